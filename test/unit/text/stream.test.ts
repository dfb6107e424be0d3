import { IncrementalDecoder, loadText, type TextSide } from '@kvad/core';
import fc from 'fast-check';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLED, makeFolder, type Json } from './folders.js';
import {
  BYTE_FALLBACK_SIZE,
  byteFallbackTokenizer,
  byteId,
  unigramTokenizer,
  wordLevelTokenizer,
  wordPieceTokenizer,
} from './vocabularies.js';

const stream = (text: TextSide, ids: readonly number[], skipSpecial: boolean): string[] => {
  const decoder = text.tokenizer.stream({ skipSpecial });
  return [...ids.map((id) => decoder.push(id)), decoder.end()];
};

const folders: string[] = [];
const load = (tokenizer: Json): Promise<TextSide> => {
  const folder = makeFolder({ 'tokenizer.json': tokenizer });
  folders.push(folder);
  return loadText(folder);
};
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** join(stream) = decode(all), for ids drawn at random. */
const agrees = (text: TextSide, ids: fc.Arbitrary<number>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(ids, { maxLength: 24 }), fc.boolean(), async (list, skipSpecial) => {
      const all = await text.tokenizer.decode(list, { skipSpecial });
      expect(stream(text, list, skipSpecial).join('')).toBe(all);
    }),
    { numRuns: 400 },
  );

describe('streams of byte-level tokens', () => {
  let text: TextSide;
  beforeAll(async () => {
    text = await loadText(BUNDLED);
  });

  it('joined are the text of all ids', async () => {
    await agrees(text, fc.integer({ min: 0, max: 2047 }));
  });

  it('of bytes and special tokens are too', async () => {
    await agrees(text, fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 3, max: 258 })));
  });

  it('never give half a character', async () => {
    const sample = 'The fox 🦊 said “你好”, naïvely: 👨‍👩‍👧 ﷽ é\u0301';
    const chunks = stream(text, await text.tokenizer.encode(sample, { special: false }), true);
    expect(chunks.join('')).toBe(sample);
    for (const chunk of chunks) expect(chunk).not.toMatch(/\uFFFD|^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/);
  });

  it('hold back at most three tokens, whatever comes', () => {
    const half = text.tokenizer.idOf('ä'); // the byte E4, which begins a character of three
    const chunks = stream(
      text,
      Array.from({ length: 12 }, () => half as number),
      true,
    );
    expect(chunks.slice(0, 4)).toEqual(['', '', '', '\uFFFD\uFFFD\uFFFD']);
    expect(chunks.join('')).toBe('\uFFFD'.repeat(12));
    let run = 0;
    for (const chunk of chunks) expect((run = chunk === '' ? run + 1 : 0)).toBeLessThanOrEqual(3);
  });

  it('special tokens are left out if asked for, and ids without a token have no text', async () => {
    const ids = [1, ...(await text.tokenizer.encode('fox', { special: false })), 2];
    expect(stream(text, ids, true).join('')).toBe('fox');
    expect(stream(text, ids, false).join('')).toBe('<|im_start|>fox<|im_end|>');
  });

  it('a stream that has ended begins anew', () => {
    const decoder = text.tokenizer.stream({ skipSpecial: true });
    const half = text.tokenizer.idOf('ä') as number;
    decoder.push(half);
    expect(decoder.end()).toBe('\uFFFD');
    expect(decoder.end()).toBe('');
  });
});

describe('streams of pieces with byte fallback', () => {
  let text: TextSide;
  beforeAll(async () => {
    text = await load(byteFallbackTokenizer());
  });
  const pieces = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 259, max: BYTE_FALLBACK_SIZE - 1 }));
  const runOf = (samples: readonly string[]): number[] => [...Buffer.from(samples.join(''))].map(byteId);

  it('joined are the text of all ids', async () => {
    await agrees(text, pieces);
  });

  it('with runs of bytes that are text, or are none from their first character on, too', async () => {
    const good = fc.array(fc.constantFrom('a', 'é', '你', '🦊', '\n', ' '), { maxLength: 4 }).map(runOf);
    const bad = fc
      .tuple(fc.constantFrom(0x80, 0xc0, 0xf5, 0xff), fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 4 }))
      .map(([first, rest]) => [first, ...rest].map(byteId));
    const half = fc.constantFrom([0xe4], [0xe4, 0xbd], [0xf0, 0x9f, 0xa6]).map((bytes) => bytes.map(byteId));
    const part = fc.tuple(fc.oneof(good, bad, half), pieces).map(([run, piece]) => [...run, piece]);
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), fc.boolean(), async (parts, skipSpecial) => {
        // A special token that is left out does not end a run: keep runs apart by a piece.
        const list = parts.flatMap((ids) => (skipSpecial ? [...ids, 259] : ids));
        const all = await text.tokenizer.decode(list, { skipSpecial });
        expect(stream(text, list, skipSpecial).join('')).toBe(all);
      }),
      { numRuns: 400 },
    );
  });

  it('a character is given with its last byte', () => {
    expect(stream(text, runOf(['你', 'é']), true)).toEqual(['', '', '你', '', 'é', '']);
  });

  it('what follows whole characters in a run that turns out to be no UTF-8 is U+FFFD', async () => {
    const ids = [...runOf(['你']), byteId(0xff), ...runOf(['é'])];
    expect(stream(text, ids, true)).toEqual(['', '', '你', '\uFFFD', '\uFFFD', '\uFFFD', '']);
    expect(await text.tokenizer.decode(ids, { skipSpecial: true })).toBe('\uFFFD'.repeat(6));
  });

  it('the first space goes, later ones stay', () => {
    const id = (token: string): number => text.tokenizer.idOf(token) as number;
    expect(stream(text, [id('▁'), id('▁ten'), id('▁'), id('▁ten'), id('▁▁'), id('e')], true).join('')).toBe(
      ' ten  ten  e',
    );
  });
});

describe('streams of other vocabularies', () => {
  it.each([
    { kind: 'WordPiece', tokenizer: wordPieceTokenizer(), size: 13 },
    { kind: 'Unigram with Metaspace', tokenizer: unigramTokenizer(), size: 10 },
    { kind: 'words without a decoder', tokenizer: wordLevelTokenizer(), size: 4 },
  ])('$kind: joined are the text of all ids', async ({ tokenizer, size }) => {
    await agrees(await load(tokenizer), fc.integer({ min: 0, max: size - 1 }));
  });

  it('look at a few tokens for each id, however long the text is', () => {
    let looked = 0;
    const join = (tokens: readonly string[]): string => {
      looked += tokens.length;
      return tokens.join('').replaceAll('▁', ' ').replace(/^ /, '');
    };
    const tokenOf = (id: number): string => ['▁', 'fox', '', '▁a', '<0xE4>', '\uFFFD'][id] as string;
    const texts = { tokenOf, join, isSpecial: () => false, bytes: 'some' as const };
    const decoder = new IncrementalDecoder(texts, { skipSpecial: true });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 50, maxLength: 200 }), (ids) => {
        for (const id of ids) {
          looked = 0;
          decoder.push(id);
          expect(looked).toBeLessThan(64);
        }
      }),
    );
  });
});
