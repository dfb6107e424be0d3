import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { passValue, readOutline, type PassValue } from '../../../core/dist/text/tokenizer/outline.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** Pieces that a vocabulary is made of, and what breaks one. */
const piece = fc.oneof(
  fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\n',
    '"',
    '\\',
    '"Ġa": ',
    '"\\"": ',
    '"\\\\": ',
    '"{": ',
    '"é": ',
  ),
  fc.constantFrom('0', '1', '7', '07', '-7', '7.5', '7e1', '1E+7', '16777215', '16777216', '99999999999999999999'),
  fc.nat({ max: 40 }).map((id) => `"t${id}": ${id}, `),
);

describe.runIf(loadAddon() !== null)('the addon passes over a value', () => {
  const native: PassValue = loadAddon()!.passValue;

  it('as the script does, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, watch) => {
        const text = bytes(`{${pieces.join('')}`);
        expect(native(text, 0, watch ? 1 : 0)).toEqual(passValue(text, 0, watch ? 1 : 0));
      }),
      { numRuns: 500 },
    );
  });

  it('from the middle of a text, to its end where nothing closes', () => {
    const text = bytes('{"model": {"vocab": {"a": 0, "b": 1}, "merges": []}}');
    for (const pass of [native, passValue]) {
      expect(pass(text, 20, 1)).toEqual([36, -1]);
      expect(pass(text.subarray(0, 30), 20, 1)).toEqual([30, -1]);
    }
    expect(() => native(text, text.length, 0)).toThrow(TypeError);
  });
});

it.each([
  ['the script', passValue],
  ['what is there', undefined],
])('%s finds what is long, and an id that two tokens have', (_, pass) => {
  const text = '{"a": [1], "model": {"type": "BPE", "vocab": {"a": 0, "}": 3, "c": 3}, "merges": ["a }"]}}';
  expect(readOutline(bytes(text), pass)).toEqual({
    outline: '{"a": [1], "model": {"type": "BPE", "vocab": {}, "merges": []}}',
    sharedId: 3,
    merges: { start: 81, end: 88 },
  });
});
