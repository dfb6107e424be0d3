import type { WeightAudit } from '../plan/audit.js';

/** Names that are looked at to guess a prefix; the guess is then counted over all. */
const LOOKED_AT = 16;

/**
 * The prefix that tensor names have instead of the one expected, if that explains most of what is missing; else null.
 * `model.layers.0.q.weight` missing and `language_model.model.layers.0.q.weight` unexpected: found `language_model.model.`,
 * expected `model.`.
 */
export const shiftedPrefix = (
  missing: WeightAudit['missing'],
  unexpected: readonly string[],
): { readonly expected: string; readonly found: string } | null => {
  const there = new Set(unexpected);
  const bySuffix = new Map<string, string[]>();
  for (const name of unexpected) {
    const key = lastComponents(name);
    bySuffix.set(key, [...(bySuffix.get(key) ?? []), name]);
  }
  const wanted = missing.map(({ tensors }) => tensors);
  let best: { expected: string; found: string; explained: number } | null = null;
  for (const names of wanted.slice(0, LOOKED_AT)) {
    for (const name of names.slice(0, LOOKED_AT)) {
      for (const candidate of (bySuffix.get(lastComponents(name)) ?? []).slice(0, LOOKED_AT)) {
        const { expected, found } = differentPrefix(name, candidate);
        const moved = (other: string): boolean =>
          other.startsWith(expected) && there.has(found + other.slice(expected.length));
        const explained = wanted.filter((alternatives) => alternatives.some(moved)).length;
        if (explained > (best?.explained ?? 0)) best = { expected, found, explained };
      }
    }
  }
  if (best === null || best.explained * 2 <= missing.length) return null;
  return { expected: best.expected, found: best.found };
};

/** A shift keeps at least the last two components of a name. */
const lastComponents = (name: string): string => name.split('.').slice(-2).join('.');

/** What stands before the longest common end, in whole components. */
const differentPrefix = (expected: string, found: string): { expected: string; found: string } => {
  const a = expected.split('.');
  const b = found.split('.');
  let same = 0;
  while (same < a.length && same < b.length && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  const prefix = (parts: readonly string[]): string =>
    parts
      .slice(0, parts.length - same)
      .map((part) => `${part}.`)
      .join('');
  return { expected: prefix(a), found: prefix(b) };
};
