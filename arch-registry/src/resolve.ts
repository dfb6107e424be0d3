import { KvadError } from '@kvad/core';

/** A model type that a config names, and under which key. */
export interface NamedType {
  readonly modelType: string;
  readonly key: 'model_type' | 'text_config.model_type';
}

const MOST_SUGGESTIONS = 3;

/**
 * The type that decides: the outer `model_type` if somebody claims it, else that of `text_config`; by the exact name.
 * Throws KVAD_E_ARCH_MISSING where the config names none, KVAD_E_ARCH_UNKNOWN where nobody claims it.
 */
export const modelTypeOf = (
  config: Readonly<Record<string, unknown>>,
  file: string,
  claimed: ReadonlySet<string>,
): NamedType => {
  const outer = config['model_type'];
  const text = config['text_config'];
  const inner = typeof text === 'object' && text !== null ? (text as { model_type?: unknown }).model_type : undefined;
  if (isName(outer) && claimed.has(outer)) return { modelType: outer, key: 'model_type' };
  if (isName(inner) && claimed.has(inner)) return { modelType: inner, key: 'text_config.model_type' };
  if (isName(outer)) throw unknownType(outer, 'model_type', file, claimed);
  if (isName(inner)) throw unknownType(inner, 'text_config.model_type', file, claimed);
  throw new KvadError('KVAD_E_ARCH_MISSING', {
    file,
    found: outer === undefined ? 'not there' : JSON.stringify(outer),
  });
};

export const unknownType = (value: string, key: string, file: string, claimed: ReadonlySet<string>): KvadError => {
  const known = [...claimed].sort();
  return new KvadError('KVAD_E_ARCH_UNKNOWN', { value, key, file, nearest: nearest(value, known), known });
};

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Names within a third of the letters, the nearest first. */
export const nearest = (value: string, names: readonly string[]): string[] =>
  names
    .map((name) => ({ name, distance: editDistance(value.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.ceil(Math.max(value.length, name.length) / 3))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST_SUGGESTIONS)
    .map(({ name }) => name);

/** Letters to insert, remove or exchange (Levenshtein). */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
};
