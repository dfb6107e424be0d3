import { isObject } from '../../plan/config-source.js';

/** Token -> id of a model's `vocab`: an object, or a list of [token, score] whose places are the ids. */
export const vocabularyOf = (model: unknown): ReadonlyMap<string, number> => {
  const vocab = isObject(model) ? model['vocab'] : undefined;
  if (Array.isArray(vocab)) {
    return new Map(vocab.map((entry: unknown, id) => [String(Array.isArray(entry) ? entry[0] : entry), id]));
  }
  return new Map(isObject(vocab) ? (Object.entries(vocab) as [string, number][]) : []);
};
