import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { MAGIC, PACKED_LAYOUT, packedBytes } from '../../../core/dist/checkpoint/quant-cache/layout.js';
import { openQuantCache } from '../../../core/dist/checkpoint/quant-cache/open-quant-cache.js';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { KINDS } from '../../../core/dist/kernels/native/addon.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-hostile-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const identity = {
  precision: 'q8',
  layout: PACKED_LAYOUT,
  bindings: 'b',
  sources: [{ file: 'model.safetensors', size: 7, id: 'modified:1' }],
} as const;
const entry = { shape: [16, 32], precision: 'q8', offset: 64, length: 576 };
const good = { identity, directory: '/models/m', entries: { a: entry, b: { ...entry, offset: 640 } } };
const DATA = 1216;

/** A file with this header behind two matrices. */
const fileOf = (header: unknown, start = BigInt(DATA), length?: bigint): Uint8Array => {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const file = Buffer.alloc(DATA + json.length);
  file.set(MAGIC);
  file.writeBigUInt64LE(start, 8);
  file.writeBigUInt64LE(length ?? BigInt(json.length), 16);
  file.set(json, DATA);
  return file;
};

const open = (bytes: Uint8Array): string | null => {
  const file = path.join(scratch, 'model.q8.kvq');
  writeFileSync(file, bytes);
  const { cache, stale } = openQuantCache(file, identity);
  for (const key of ['a', 'b', 'c']) cache?.find(key);
  cache?.close();
  return stale;
};

describe('a quant cache', () => {
  it('that is right is taken', () => {
    expect(open(fileOf(good))).toBeNull();
  });

  it('cut at any byte of its beginning or its header is made anew', () => {
    const whole = fileOf(good);
    const ends = [...Array.from({ length: 80 }, (_, i) => i), ...Array.from(whole.keys()).slice(DATA - 2)];
    for (const end of ends) expect([end, open(whole.subarray(0, end))]).toEqual([end, expect.any(String)]);
  });

  it.each([
    ['a header that begins beyond the end', fileOf(good, 1n << 40n)],
    ['a header that begins at the end of numbers', fileOf(good, 2n ** 64n - 1n)],
    ['a header of negative length, as another would read it', fileOf(good, BigInt(DATA), 2n ** 64n - 8n)],
    ['a huge header', fileOf(good, BigInt(DATA), 10n ** 12n)],
    ['a header in the prefix', fileOf(good, 8n)],
    ['a header that is not JSON', fileOf('{"identity":')],
    ['a header that is null', fileOf(null)],
    ['a header that is a list', fileOf([])],
    ['no identity', fileOf({ entries: good.entries })],
    ['an identity of null', fileOf({ ...good, identity: null })],
    ['an identity without sources', fileOf({ ...good, identity: { ...identity, sources: undefined } })],
    ['sources of null', fileOf({ ...good, identity: { ...identity, sources: [null] } })],
    [
      'a source in another folder',
      fileOf({ ...good, identity: { ...identity, sources: [{ file: '../x', size: 1, id: '' }] } }),
    ],
    ['a directory that is a number', fileOf({ ...good, directory: 7 })],
    ['no entries', fileOf({ identity })],
    ['entries that are a list', fileOf({ identity, entries: [entry] })],
    ['an entry of null', fileOf({ identity, entries: { a: null } })],
    ['an entry of text', fileOf({ identity, entries: { a: 'q8' } })],
    ['an unknown precision', fileOf({ identity, entries: { a: { ...entry, precision: 'q5' } } })],
    ['a precision of another size', fileOf({ identity, entries: { a: { ...entry, precision: 'q4' } } })],
    ['a shape of one axis', fileOf({ identity, entries: { a: { ...entry, shape: [512] } } })],
    ['a negative shape', fileOf({ identity, entries: { a: { ...entry, shape: [-16, -32] } } })],
    ['a shape of fractions', fileOf({ identity, entries: { a: { ...entry, shape: [15.5, 32] } } })],
    ['a shape beyond memory', fileOf({ identity, entries: { a: { ...entry, shape: [1e9, 1e9, 1e9] } } })],
    ['a shape of more than it holds', fileOf({ identity, entries: { a: { ...entry, shape: [17, 32] } } })],
    ['a matrix in the prefix', fileOf({ identity, entries: { a: { ...entry, offset: 0 } } })],
    ['a negative offset', fileOf({ identity, entries: { a: { ...entry, offset: -64 } } })],
    ['an offset that is not aligned', fileOf({ identity, entries: { a: { ...entry, offset: 65 } } })],
    ['an offset of text', fileOf({ identity, entries: { a: { ...entry, offset: '64' } } })],
    ['a matrix beyond the end', fileOf({ identity, entries: { a: { ...entry, offset: 1 << 20 } } })],
    ['a matrix that reaches into the header', fileOf({ identity, entries: { a: { ...entry, offset: 704 } } })],
    ['a negative length', fileOf({ identity, entries: { a: { ...entry, length: -576 } } })],
    ['a length that is too short', fileOf({ identity, entries: { a: { ...entry, length: 64 } } })],
    ['two matrices in one place', fileOf({ identity, entries: { a: entry, b: entry } })],
    ['two matrices that overlap', fileOf({ identity, entries: { a: entry, b: { ...entry, offset: 128 } } })],
  ])('with %s is made anew', (_, bytes) => {
    expect(open(bytes)).toEqual(expect.stringMatching(/cut short|damaged|not of format version/));
  });

  it('with any bytes of it changed is taken or made anew, never worse', () => {
    const whole = fileOf(good);
    const change = fc.tuple(fc.oneof(fc.nat(63), fc.integer({ min: DATA, max: whole.length - 1 })), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const file = Uint8Array.from(whole);
        for (const [at, byte] of changes) file[at] = byte;
        open(file);
      }),
      { numRuns: 300 },
    );
  });

  it('with any JSON as header is taken or made anew, never worse', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.jsonValue().map((any) => ({ identity, entries: { a: any } })),
        ),
        (header) => {
          open(fileOf(header));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe.runIf(loadAddon() !== null)('the size of a quantised matrix', () => {
  it('is that of the kernels', () => {
    const addon = loadAddon()!;
    expect(addon.layoutVersion).toBe(PACKED_LAYOUT);
    const size = fc.integer({ min: 1, max: 5000 });
    fc.assert(
      fc.property(fc.constantFrom('q8' as const, 'q4' as const), size, size, (precision, rows, cols) => {
        expect(packedBytes(precision, [rows, cols])).toBe(addon.quantBytes(KINDS[precision], rows, cols));
      }),
    );
  });
});
