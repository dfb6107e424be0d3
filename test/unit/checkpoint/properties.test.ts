import { isKvadError, openCheckpoint } from '@kvad/core';
import { safetensorsBytes, type TensorBytes } from '@kvad/core/testing';
import fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dtypeFacts, DTYPE_NAMES } from '../../../core/dist/checkpoint/dtypes.js';
import { duplicateKey } from '../../../core/dist/checkpoint/duplicate-keys.js';
import { fileWithHeader, folderOf } from './files.js';

const tensor: fc.Arbitrary<TensorBytes> = fc
  .tuple(fc.constantFrom(...DTYPE_NAMES), fc.array(fc.nat(4), { maxLength: 3 }), fc.infiniteStream(fc.nat(255)))
  .map(([dtype, sizes, stream]) => {
    // A last axis of 8 fills whole bytes whatever the type.
    const shape = [...sizes, 8];
    const length = (shape.reduce((a, b) => a * b, 1) * (dtypeFacts(dtype)?.bits ?? 0)) / 8;
    return { dtype, shape, bytes: Uint8Array.from({ length }, () => stream.next().value as number) };
  });

const tensors = fc
  .dictionary(fc.string({ unit: 'grapheme', maxLength: 8 }), tensor, { maxKeys: 5, noNullPrototype: true })
  .filter((dictionary) => !Object.hasOwn(dictionary, '__metadata__'));

/** Opens a file, reads all, and gives what it read; null where it was refused with an error of the catalogue. */
const readAll = (folder: string, file: Uint8Array): Map<string, Uint8Array> | null => {
  writeFileSync(join(folder, 'model.safetensors'), file);
  try {
    const checkpoint = openCheckpoint(folder);
    const read = new Map([...checkpoint.tensors.keys()].map((name) => [name, checkpoint.read(name).bytes]));
    checkpoint.close();
    return read;
  } catch (error) {
    if (isKvadError(error)) return null;
    throw error;
  }
};

describe('safetensors files', () => {
  it('that are valid are read back', () => {
    const folder = folderOf();
    fc.assert(
      fc.property(tensors, fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }), (written, metadata) => {
        const read = readAll(folder, safetensorsBytes(written, metadata));
        expect(read).toEqual(new Map(Object.entries(written).map(([name, { bytes }]) => [name, bytes])));
      }),
    );
  });

  it('with any bytes of the header changed are read or refused, never worse', () => {
    const folder = folderOf();
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(tensors, fc.array(change, { minLength: 1, maxLength: 6 }), (written, changes) => {
        const file = safetensorsBytes(written);
        const head = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
        for (const [at, byte] of changes) file[at % head] = byte;
        readAll(folder, file);
      }),
      { numRuns: 300 },
    );
  });

  it('cut, lengthened or of random bytes are read or refused, never worse', () => {
    const folder = folderOf();
    fc.assert(
      fc.property(tensors, fc.nat(), fc.uint8Array({ maxLength: 40 }), (written, length, more) => {
        const file = safetensorsBytes(written);
        const cut = file.subarray(0, length % (file.length + 1));
        readAll(folder, Buffer.concat([cut, more]));
        readAll(folder, more);
      }),
    );
  });

  it('with any JSON as header are read or refused, never worse', () => {
    const folder = folderOf();
    const size = fc.oneof(fc.nat(20), fc.constantFrom(-1, 0.5, 2 ** 53, 1e300, null, '1'));
    const entry = fc.record(
      {
        dtype: fc.oneof(fc.constantFrom('F32', 'BF16', 'F4', 'F64'), fc.jsonValue()),
        shape: fc.oneof(fc.array(size, { maxLength: 4 }), fc.jsonValue()),
        data_offsets: fc.oneof(fc.array(size, { maxLength: 3 }), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const header = fc.oneof(
      fc.dictionary(fc.string({ maxLength: 3 }), fc.oneof(entry, fc.jsonValue())),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(header, fc.nat(64), (content, bytes) => {
        readAll(folder, fileWithHeader(content, bytes));
      }),
      { numRuns: 300 },
    );
  });

  it('with deeply nested headers are refused, in time', () => {
    const folder = folderOf();
    expect(readAll(folder, fileWithHeader(`{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`))).toBeNull();
    const deep = `${'['.repeat(1e6)}${']'.repeat(1e6)}`;
    expect(readAll(folder, fileWithHeader(`{"a":{"dtype":"F32","shape":${deep},"data_offsets":[0,4]}}`))).toBeNull();
    expect(readAll(folder, fileWithHeader(`{"a":{"dtype":"F32","shape":[${deep}],"data_offsets":[0,4]}}`))).toBeNull();
    expect(readAll(folder, fileWithHeader(`${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`))).toBeNull();
  });
});

describe('duplicate keys', () => {
  it('are found in whatever spelling, and nowhere else', () => {
    const text = (value: unknown, spaces: number): string => JSON.stringify(value, null, spaces);
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(2), (value, spaces) => {
        expect(duplicateKey(text(value, spaces))).toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.jsonValue(), (first, key, second) => {
        const name = JSON.stringify(key);
        const escaped = `"${[...Array(key.length).keys()].map((i) => `\\u${key.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`;
        expect(duplicateKey(`[{${name}: ${text(first, 1)}\n,\t${escaped} :${text(second, 0)}}]`)).toBe(key);
      }),
    );
  });

  it('of different objects are no duplicates', () => {
    expect(duplicateKey('{"a":{"a":[{"a":1},{"a":"a"}]},"b":"a\\":"}')).toBeNull();
    expect(duplicateKey('{"a":{"b":1,"c":2},"b":{"b":1,"b":2}}')).toBe('b');
  });
});
