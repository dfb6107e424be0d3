import type { TextSide } from '../text/types.js';
import type { ScoringInput } from './types.js';

export interface ScoringIds {
  readonly ids: Int32Array;
  /** The id that the vocabulary wants at the beginning of texts; null: none. */
  readonly bos: number | null;
}

/**
 * The ids of a run. A text is encoded once, without a template, and gets a BOS in front if the vocabulary asks for one;
 * special tokens written in it are text unless `parseSpecial`. Ids are taken as they are.
 */
export const scoringIds = async (input: ScoringInput, text: TextSide): Promise<ScoringIds> => {
  const bos = text.facts.bos?.added === true ? text.facts.bos.id : null;
  if ('ids' in input) return { ids: Int32Array.from(input.ids), bos };
  const ids = await text.tokenizer.encode(input.text, { special: false, parseSpecial: input.parseSpecial ?? false });
  return { ids: Int32Array.from(bos === null ? ids : [bos, ...ids]), bos };
};
