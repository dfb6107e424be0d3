import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossyText, unfinishedTail, utf8State, wellFormed } from '../../../core/dist/text/utf8.js';

const strict = (bytes: readonly number[]): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
};

/** Bytes that make characters, halves of them and rubbish likely. */
const bytes = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5),
  ),
  { maxLength: 6 },
);

/** Ends that make a beginning whole, if anything does. */
const ENDINGS = [
  [0x80],
  [0x90],
  [0xa0],
  [0x80, 0x80],
  [0x90, 0x80],
  [0xa0, 0x80],
  [0x80, 0x80, 0x80],
  [0x90, 0x80, 0x80],
];

describe('UTF-8', () => {
  it('bytes are complete, the beginning of something complete, or neither', () => {
    fc.assert(
      fc.property(bytes, (sample) => {
        const beginning = ENDINGS.some((ending) => strict([...sample, ...ending]));
        expect(utf8State(sample)).toBe(strict(sample) ? 'complete' : beginning ? 'partial' : 'invalid');
      }),
      { numRuns: 3000 },
    );
  });

  it('the unfinished tail is what more bytes can still make a character of', () => {
    fc.assert(
      fc.property(bytes, (sample) => {
        const tail = unfinishedTail(sample);
        const settled = lossyText(sample.slice(0, sample.length - tail));
        expect(lossyText(sample)).toBe(settled + (tail > 0 ? '\uFFFD' : ''));
        if (tail > 0) expect(utf8State(sample.slice(-tail))).toBe('partial');
        else for (const end of ENDINGS) expect(lossyText([...sample, ...end]).startsWith(settled)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('a byte order mark in the text stays', () => {
    expect(lossyText([0xef, 0xbb, 0xbf, 0x41])).toBe('\uFEFFA');
  });

  it('lone surrogates become U+FFFD, pairs stay', () => {
    expect(wellFormed('a\uD800b\uDC00🦊\uDBFF')).toBe('a\uFFFDb\uFFFD🦊\uFFFD');
  });
});
