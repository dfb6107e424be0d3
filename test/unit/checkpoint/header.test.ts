import { openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { DTYPE_NAMES } from '../../../core/dist/checkpoint/dtypes.js';
import { f32, fileOf, fileWithHeader, folderOf, refusal } from './files.js';

const entry = (dtype: string, shape: unknown, offsets: unknown): Record<string, unknown> => ({
  dtype,
  shape,
  data_offsets: offsets,
});

const open = (bytes: Uint8Array): ReturnType<typeof openCheckpoint> =>
  openCheckpoint(folderOf({ 'model.safetensors': bytes }));

describe('a safetensors header', () => {
  it('tells name, type, shape and place of each tensor, in whatever order it names them', () => {
    const file = fileWithHeader({ b: entry('F32', [2], [4, 12]), a: entry('BF16', [1, 2], [0, 4]) }, 12);
    const checkpoint = open(file);
    const start = file.length - 12;
    expect([...checkpoint.tensors.values()]).toMatchObject([
      { name: 'b', dtype: 'F32', shape: [2], offset: start + 4, byteLength: 8 },
      { name: 'a', dtype: 'BF16', shape: [1, 2], offset: start, byteLength: 4 },
    ]);
    expect(checkpoint.warnings).toEqual([]);
    checkpoint.close();
  });

  it('may have no tensor, scalars, empty tensors, metadata and white space behind', () => {
    open(fileWithHeader({})).close();
    const header = {
      __metadata__: { format: 'pt' },
      scalar: entry('F32', [], [0, 4]),
      empty: entry('F32', [0, 3], [4, 4]),
    };
    const checkpoint = open(fileWithHeader(`${JSON.stringify(header)}   `, 4));
    expect([...checkpoint.tensors.keys()]).toEqual(['scalar', 'empty']);
    expect(checkpoint.read('empty').bytes).toHaveLength(0);
    checkpoint.close();
  });

  it('keeps names that mean something to JavaScript', () => {
    const names = ['__proto__', 'constructor', '12', 'ключ', 'a"b'];
    const tensors = names.map((name, i) => `${JSON.stringify(name)}:${JSON.stringify(entry('U8', [1], [i, i + 1]))}`);
    const checkpoint = open(fileWithHeader(`{${tensors.join(',')}}`, names.length));
    expect([...checkpoint.tensors.keys()].sort()).toEqual([...names].sort());
    checkpoint.close();
  });

  it('knows all element types of the format', () => {
    expect(DTYPE_NAMES).toHaveLength(22);
    for (const dtype of DTYPE_NAMES) {
      const bits = Number(/\d+/.exec(dtype === 'BOOL' ? '8' : dtype.replace(/^C64/, '64'))?.[0]);
      const checkpoint = open(fileWithHeader({ t: entry(dtype, [2, 4], [0, bits]) }, bits));
      expect(checkpoint.tensors.get('t')?.byteLength).toBe(bits);
      checkpoint.close();
    }
  });
});

const ok = entry('F32', [1], [0, 4]);
const huge = Number.MAX_SAFE_INTEGER;

/** One file for each check; the message names the file, and says what is wrong. */
const MALFORMED: readonly (readonly [what: string, file: Uint8Array, code: string, message: RegExp])[] = [
  [
    'header length above the cap',
    withLength(fileWithHeader({ t: ok }, 4), 100_000_001n),
    'HEADER',
    /would have 100000001 bytes, the format allows 100000000/,
  ],
  [
    'header length of all ones',
    withLength(fileWithHeader({ t: ok }, 4), 2n ** 64n - 1n),
    'HEADER',
    /18446744073709551615/,
  ],
  [
    'header reaches behind the file',
    fileWithHeader({ t: ok }).subarray(0, 20),
    'TRUNCATED',
    /is cut off: \d+ of \d+ bytes are missing/,
  ],
  ['fewer than 8 bytes', Uint8Array.of(1, 0, 0), 'TRUNCATED', /has only 3 bytes/],
  ['header does not begin with a brace', fileWithHeader(' {}'), 'HEADER', /does not begin with "{"/],
  ['header of length zero', withLength(fileWithHeader('x'), 0n), 'HEADER', /does not begin with "{"/],
  ['header is not JSON', fileWithHeader('{"a":'), 'HEADER', /is not JSON/],
  ['header is not UTF-8', notUtf8(), 'HEADER', /is not JSON/],
  ['two objects', fileWithHeader('{}{}'), 'HEADER', /is not JSON/],
  [
    'a tensor twice',
    fileWithHeader(`{"t":${JSON.stringify(ok)}, "t" :${JSON.stringify(ok)}}`, 4),
    'HEADER',
    /the key "t" twice/,
  ],
  [
    'a tensor twice, once escaped',
    fileWithHeader(`{"t":${JSON.stringify(ok)},"\\u0074":${JSON.stringify(ok)}}`, 4),
    'HEADER',
    /the key "t" twice/,
  ],
  [
    'a key of an entry twice',
    fileWithHeader('{"t":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
    'HEADER',
    /"dtype" twice/,
  ],
  ['metadata that is a list', fileWithHeader({ __metadata__: ['pt'] }), 'HEADER', /"__metadata__"/],
  ['metadata with a number', fileWithHeader({ __metadata__: { format: 1 } }), 'HEADER', /"__metadata__"/],
  ['entry is null', fileWithHeader({ t: null }), 'TENSOR', /"t".*entry is not an object/],
  ['entry is a list', fileWithHeader({ t: [] }), 'TENSOR', /"t".*entry is not an object/],
  ['entry with a strange key', fileWithHeader({ t: { ...ok, strides: [1] } }, 4), 'TENSOR', /"strides"/],
  ['no dtype', fileWithHeader({ t: { shape: [1], data_offsets: [0, 4] } }, 4), 'TENSOR', /dtype is not a string/],
  [
    'unknown dtype',
    fileWithHeader({ t: entry('F31', [1], [0, 4]) }, 4),
    'TENSOR',
    /"F31" is none of the format: BOOL, F4/,
  ],
  ['lower-case dtype', fileWithHeader({ t: entry('f32', [1], [0, 4]) }, 4), 'TENSOR', /"f32" is none/],
  ['no shape', fileWithHeader({ t: { dtype: 'F32', data_offsets: [0, 4] } }, 4), 'TENSOR', /shape undefined/],
  ['shape is a number', fileWithHeader({ t: entry('F32', 1, [0, 4]) }, 4), 'TENSOR', /shape 1 is not/],
  ['negative size', fileWithHeader({ t: entry('F32', [-1], [0, 4]) }, 4), 'TENSOR', /shape \[-1\]/],
  ['fractional size', fileWithHeader({ t: entry('F32', [0.5], [0, 2]) }, 2), 'TENSOR', /shape \[0\.5\]/],
  ['size as a string', fileWithHeader({ t: entry('F32', ['1'], [0, 4]) }, 4), 'TENSOR', /shape \["1"\]/],
  [
    'size beyond safe integers',
    fileWithHeader('{"t":{"dtype":"U8","shape":[9007199254740993],"data_offsets":[0,4]}}', 4),
    'TENSOR',
    /shape \[9007199254740992\]/,
  ],
  [
    'product beyond safe integers',
    fileWithHeader({ t: entry('F32', [huge, huge], [0, 4]) }, 4),
    'TENSOR',
    /larger than any file/,
  ],
  [
    'long shape',
    fileWithHeader({ t: entry('F32', new Array(1e5).fill(2), [0, 4]) }, 4),
    'TENSOR',
    /shape \[2,2.{70,90} is larger/,
  ],
  ['no offsets', fileWithHeader({ t: { dtype: 'F32', shape: [1] } }, 4), 'TENSOR', /data_offsets undefined/],
  ['one offset', fileWithHeader({ t: entry('F32', [1], [4]) }, 4), 'TENSOR', /data_offsets \[4\]/],
  ['three offsets', fileWithHeader({ t: entry('F32', [1], [0, 4, 8]) }, 4), 'TENSOR', /data_offsets \[0,4,8\]/],
  ['negative offset', fileWithHeader({ t: entry('F32', [1], [-4, 0]) }, 4), 'TENSOR', /data_offsets \[-4,0\]/],
  [
    'offsets the wrong way round',
    fileWithHeader({ t: entry('F32', [1], [4, 0]) }, 4),
    'TENSOR',
    /end before they begin/,
  ],
  [
    'offsets too short for the shape',
    fileWithHeader({ t: entry('F32', [2], [0, 4]) }, 4),
    'TENSOR',
    /F32 \[2\] is 8 bytes, its data_offsets hold 4/,
  ],
  [
    'offsets too long for the shape',
    fileWithHeader({ t: entry('F32', [1], [0, 8]) }, 8),
    'TENSOR',
    /is 4 bytes, its data_offsets hold 8/,
  ],
  ['half a byte', fileWithHeader({ t: entry('F4', [3], [0, 2]) }, 2), 'TENSOR', /F4 \[3\] does not fill whole bytes/],
  [
    'first tensor begins late',
    fileWithHeader({ t: entry('F32', [1], [4, 8]) }, 8),
    'TENSOR',
    /hole of 4 bytes with the header/,
  ],
  [
    'hole between tensors',
    fileWithHeader({ a: ok, b: entry('F32', [1], [8, 12]) }, 12),
    'TENSOR',
    /"b".*hole of 4 bytes with tensor "a"/,
  ],
  [
    'overlapping tensors',
    fileWithHeader({ a: ok, b: entry('F32', [1], [2, 6]) }, 6),
    'TENSOR',
    /"b".*overlaps by 2 bytes with tensor "a"/,
  ],
  ['two tensors in one place', fileWithHeader({ a: ok, b: ok }, 4), 'TENSOR', /overlaps by 4 bytes/],
  ['one byte missing', fileWithHeader({ t: ok }, 3), 'TRUNCATED', /1 of \d+ bytes are missing/],
  ['one byte too many', fileWithHeader({ t: ok }, 5), 'TRAILING', /has 1 bytes behind its last tensor/],
  ['data without tensors', fileWithHeader({}, 7), 'TRAILING', /has 7 bytes behind/],
  ['nothing at all', new Uint8Array(0), 'FOREIGN', /it is empty/],
];

function withLength(file: Uint8Array, length: bigint): Uint8Array {
  new DataView(file.buffer).setBigUint64(0, length, true);
  return file;
}

function notUtf8(): Uint8Array {
  const file = fileWithHeader('{"?":1}');
  file[10] = 0xff;
  return file;
}

describe('a malformed safetensors file is refused', () => {
  it.each(MALFORMED)('%s', (_, file, code, message) => {
    const directory = folderOf({ 'model.safetensors': file });
    const error = refusal(() => openCheckpoint(directory));
    expect(error.code).toBe(`KVAD_E_SAFETENSORS_${code}`);
    expect(error.message).toMatch(message);
    expect(error.message).toContain('model.safetensors');
    expect(error.hint).not.toBe('');
  });

  it('whatever byte of it is cut off', () => {
    const whole = fileOf({ a: f32([3, 2]), b: f32([1]) });
    for (let length = 0; length < whole.length; length++) {
      const directory = folderOf({ 'model.safetensors': whole.subarray(0, length) });
      const error = refusal(() => openCheckpoint(directory));
      expect([length, error.code]).toEqual([length, expect.stringMatching(/TRUNCATED|FOREIGN/)]);
    }
  });
});
