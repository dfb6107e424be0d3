import { isKvadError, loadText, type TextSide } from '@kvad/core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUNDLED, folderOf } from './folders.js';
import { byteFallbackTokenizer } from './vocabularies.js';

/**
 * Mutations of good files: whatever comes of one is a tokenizer that works or an error of the catalogue. A file that ends
 * the process ends this test; one that never comes back, its time.
 */

/** mulberry32: the same mutations in each run. */
const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 31, 2 ** 32, 1e300, 3, '', 'a', '(a+)+$', '\u0000', '😀'],
  ...[[], {}, [[]], [null], { type: 'Sequence' }, { Regex: '(' }, { String: '' }, ['a', 'b', 'c']],
];

type Node = Record<string, unknown> | unknown[];

/** Every place of a document but the single entries of a vocabulary, of which a few stand for all. */
const places = (node: Node, found: { parent: Node; key: string | number }[] = []): typeof found => {
  const keys: (string | number)[] = Array.isArray(node) ? [...node.keys()] : Object.keys(node);
  for (const key of keys.length > 40 ? [...keys.slice(0, 3), ...keys.slice(-3)] : keys) {
    found.push({ parent: node, key });
    const child = (node as Record<string | number, unknown>)[key];
    if (child !== null && typeof child === 'object') places(child as Node, found);
  }
  return found;
};

const mutate = (text: string, next: () => number): string => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  if (next() < 0.15) return text.slice(0, Math.floor(next() * text.length));
  if (next() < 0.1) {
    const at = Math.floor(next() * text.length);
    return text.slice(0, at) + pick(['"', '}', ']', ',', ':', '\\', '\u0000', '-', '{']) + text.slice(at + 1);
  }
  const json = JSON.parse(text) as Node;
  for (let count = 1 + Math.floor(next() * 2); count > 0; count--) {
    const { parent, key } = pick(places(json));
    const target = parent as Record<string | number, unknown>;
    const kind = next();
    if (kind < 0.2) Reflect.deleteProperty(target, key);
    else if (kind < 0.35 && Array.isArray(parent)) parent.push(parent[Number(key)]);
    else target[key] = pick(VALUES);
  }
  return JSON.stringify(json);
};

const GOOD: Readonly<Record<string, string>> = {
  bundled: readFileSync(join(BUNDLED, 'tokenizer.json'), 'utf8'),
  'byte fallback': JSON.stringify(byteFallbackTokenizer()),
};

const use = async ({ tokenizer }: TextSide): Promise<void> => {
  for (const special of [true, false]) {
    const ids = await tokenizer.encode('Once ½ a <|im_start|>\uFEFF\n 😀 ', { special });
    for (const id of ids) expect(Number.isSafeInteger(id) && id >= 0).toBe(true);
    await tokenizer.decode(ids, { skipSpecial: special });
    const stream = tokenizer.stream({ skipSpecial: special });
    for (const id of ids) stream.push(id);
    stream.end();
  }
  await tokenizer.encode('a <|im_start|>', { special: false, parseSpecial: false });
};

const RUNS = Number(process.env['KVAD_TEST_MUTATIONS'] ?? 40);

describe('mutations of a tokenizer.json', () => {
  it.each(
    Object.keys(GOOD).flatMap((name) => (['native', 'javascript'] as const).map((library) => ({ name, library }))),
  )(
    'of $name end in a tokenizer or an error code ($library)',
    async ({ name, library }) => {
      const next = random(1);
      let refused = 0;
      for (let run = 0; run < RUNS; run++) {
        const text = mutate(GOOD[name] as string, next);
        try {
          await use(await loadText(folderOf({ 'tokenizer.json': text }), { tokenizerLibrary: library }));
        } catch (error) {
          if (!isKvadError(error) || !/^KVAD_E_(TOKEN|TEXT)/.test(error.code)) {
            throw new Error(`mutation ${run} is refused without a code: ${String(error)}`, { cause: error });
          }
          refused++;
        }
      }
      expect(refused).toBeGreaterThan(0);
      expect(refused).toBeLessThan(RUNS);
    },
    240_000,
  );
});
