import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Checkpoint, openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { f32, fileOf, folderOf, refusal } from './files.js';

const INDEX = 'model.safetensors.index.json';
const ONE = 'model-00001-of-00002.safetensors';
const TWO = 'model-00002-of-00002.safetensors';

const index = (weightMap: Record<string, unknown>, metadata: object = { total_size: 20 }): string =>
  JSON.stringify({ metadata, weight_map: weightMap });

const GOOD = { a: ONE, b: TWO };
const shards = (): Record<string, Uint8Array | string> => ({
  [ONE]: fileOf({ a: f32([2, 2]) }),
  [TWO]: fileOf({ b: f32([1], [7]) }),
});

const using = <T>(checkpoint: Checkpoint, use: (checkpoint: Checkpoint) => T): T => {
  try {
    return use(checkpoint);
  } finally {
    checkpoint.close();
  }
};

const values = (checkpoint: Checkpoint, name: string): number[] => [
  ...new Float32Array(checkpoint.read(name).bytes.slice().buffer),
];

describe('shards with an index', () => {
  it('are one checkpoint', () => {
    using(openCheckpoint(folderOf({ ...shards(), [INDEX]: index(GOOD) })), (checkpoint) => {
      expect([...checkpoint.tensors.keys()]).toEqual(['a', 'b']);
      expect(values(checkpoint, 'a')).toEqual([0, 1, 2, 3]);
      expect(values(checkpoint, 'b')).toEqual([7]);
      expect(checkpoint.files).toHaveLength(2);
      expect(checkpoint.warnings).toEqual([]);
    });
  });

  it('may be symbolic links, as the cache of the Hub has them', () => {
    const blobs = folderOf(shards());
    const folder = folderOf({ [INDEX]: index(GOOD) });
    for (const name of [ONE, TWO]) symlinkSync(join(blobs, name), join(folder, name));
    using(openCheckpoint(folder), (checkpoint) => expect(values(checkpoint, 'b')).toEqual([7]));
  });

  it('name the shard that is absent', () => {
    const { [TWO]: _, ...rest } = shards();
    const error = refusal(() => openCheckpoint(folderOf({ ...rest, [INDEX]: index(GOOD) })));
    expect(error.code).toBe('KVAD_E_SAFETENSORS_SHARD_MISSING');
    expect(error.message).toMatch(/lacks the shard model-00002-of-00002\.safetensors, which .*index\.json names/);
    expect(error.hint).toContain('download');
  });

  it('that are absent beside a whole model: the hint says that the index is stale', () => {
    const error = refusal(() =>
      openCheckpoint(folderOf({ 'model.safetensors': fileOf({ a: f32([1]) }), [INDEX]: index(GOOD) })),
    );
    expect(error.code).toBe('KVAD_E_SAFETENSORS_SHARD_MISSING');
    expect(error.message).toContain('lacks 2 shards');
    expect(error.hint).toContain('model.safetensors is there');
  });

  it.each([
    ['cut by a byte', -1, 'TRUNCATED', '1 of'],
    ['longer by a byte', 1, 'TRAILING', '1 bytes behind'],
  ])('%s', (_, change, code, message) => {
    const two = fileOf({ b: f32([1]) });
    const changed = new Uint8Array(two.length + change);
    changed.set(two.subarray(0, changed.length));
    const error = refusal(() => openCheckpoint(folderOf({ ...shards(), [TWO]: changed, [INDEX]: index(GOOD) })));
    expect(error.code).toBe(`KVAD_E_SAFETENSORS_${code}`);
    expect(error.message).toContain(TWO);
    expect(error.message).toContain(message);
  });

  it('a stray second file is not merged, and said', () => {
    const stray = fileOf({ a: f32([2, 2], [9, 9, 9, 9]), c: f32([1]) });
    using(openCheckpoint(folderOf({ ...shards(), 'extra.safetensors': stray, [INDEX]: index(GOOD) })), (checkpoint) => {
      expect([...checkpoint.tensors.keys()]).toEqual(['a', 'b']);
      expect(values(checkpoint, 'a')).toEqual([0, 1, 2, 3]);
      expect(checkpoint.warnings).toEqual([expect.stringContaining('not read: extra.safetensors')]);
    });
  });

  it('tensors that the index does not name are not read, and said', () => {
    const files = { ...shards(), [TWO]: fileOf({ b: f32([1]), a: f32([2, 2], [9, 9, 9, 9]), c: f32([1]) }) };
    using(openCheckpoint(folderOf({ ...files, [INDEX]: index(GOOD) })), (checkpoint) => {
      expect([...checkpoint.tensors.keys()]).toEqual(['a', 'b']);
      expect(values(checkpoint, 'a')).toEqual([0, 1, 2, 3]);
      expect(checkpoint.warnings).toEqual([expect.stringContaining(`a (${TWO}), c (${TWO})`)]);
    });
  });

  it('of another total size than the index tells are said', () => {
    using(openCheckpoint(folderOf({ ...shards(), [INDEX]: index(GOOD, { total_size: 21 }) })), (checkpoint) =>
      expect(checkpoint.warnings).toEqual([expect.stringContaining('tells 21 bytes of tensors, its shards hold 20')]),
    );
  });

  it.each([
    ['a tensor in another shard', index({ a: TWO, b: ONE }), `"a" into ${TWO}, which stands in ${ONE}`],
    ['a tensor in no shard', index({ ...GOOD, c: ONE }), `"c" into ${ONE}, which no shard has`],
    [
      'a path out of the folder',
      index({ ...GOOD, a: '../model.safetensors' }),
      '"../model.safetensors", which is not a file of the same folder',
    ],
    ['a path of Windows', index({ ...GOOD, a: '..\\m.safetensors' }), 'which is not a file of the same folder'],
    ['an absolute path', index({ ...GOOD, a: '/etc/m.safetensors' }), 'which is not a file of the same folder'],
    ['itself', index({ ...GOOD, a: INDEX }), 'which is not a safetensors file'],
    ['a pickle', index({ a: 'pytorch_model.bin' }), 'which is not a safetensors file'],
    ['a number', index({ a: 1 }), 'into 1, which is not a file name'],
    ['nothing', index({}), 'no "weight_map"'],
    ['no map', '{"metadata":{}}', 'no "weight_map"'],
    ['a list', '[]', 'no "weight_map"'],
    ['null', 'null', 'no "weight_map"'],
    ['no JSON', '{', 'it is not JSON'],
    ['a tensor twice', `{"weight_map":{"a":"${ONE}","b":"${TWO}","a":"${TWO}"}}`, 'the key "a" twice'],
  ])('an index that names %s is refused', (_, content, message) => {
    const error = refusal(() => openCheckpoint(folderOf({ ...shards(), [INDEX]: content })));
    expect(error.code).toBe('KVAD_E_SAFETENSORS_INDEX');
    expect(error.message).toContain(message);
    expect(error.message).toContain(INDEX);
  });

  it('an index above 64 MiB is refused before it is parsed', () => {
    const error = refusal(() => openCheckpoint(folderOf({ [INDEX]: new Uint8Array(64 * 2 ** 20 + 1) })));
    expect(error.message).toContain('the limit is 67108864');
  });
});

describe('safetensors files without an index', () => {
  it('model.safetensors is the model, others are said', () => {
    const files = { 'model.safetensors': fileOf({ a: f32([1]) }), 'consolidated.safetensors': fileOf({ b: f32([1]) }) };
    using(openCheckpoint(folderOf(files)), (checkpoint) => {
      expect([...checkpoint.tensors.keys()]).toEqual(['a']);
      expect(checkpoint.warnings).toEqual([expect.stringContaining('consolidated.safetensors')]);
    });
  });

  it('a complete set of shards is a model', () => {
    using(openCheckpoint(folderOf(shards())), (checkpoint) =>
      expect([...checkpoint.tensors.keys()]).toEqual(['a', 'b']),
    );
  });

  it('an incomplete set names what is absent', () => {
    const { [ONE]: _, ...rest } = shards();
    const error = refusal(() => openCheckpoint(folderOf(rest)));
    expect(error.code).toBe('KVAD_E_SAFETENSORS_SHARD_MISSING');
    expect(error.message).toMatch(/lacks the shard model-00001-of-00002\.safetensors$/);
  });

  it('a set that holds a tensor twice is refused', () => {
    const error = refusal(() => openCheckpoint(folderOf({ ...shards(), [TWO]: fileOf({ a: f32([1]) }) })));
    expect(error.code).toBe('KVAD_E_SAFETENSORS_TENSOR');
    expect(error.message).toMatch(/tensor "a" of .*00002-of.* also stands in .*00001-of/);
  });

  it('several that are no set are refused with their names', () => {
    const files = { 'x.safetensors': fileOf({ a: f32([1]) }), 'y.safetensors': fileOf({ b: f32([1]) }) };
    const error = refusal(() => openCheckpoint(folderOf(files)));
    expect(error.code).toBe('KVAD_E_MODEL_FOLDER_AMBIGUOUS');
    expect(error.message).toContain('x.safetensors, y.safetensors');
  });

  it('a file name that claims a million shards does not cost a million names', () => {
    const error = refusal(() =>
      openCheckpoint(folderOf({ 'model-1-of-99999999999.safetensors': fileOf({ a: f32([1]) }) })),
    );
    expect(error.code).toBe('KVAD_E_SAFETENSORS_SHARD_MISSING');
    expect(error.message.length).toBeLessThan(1000);
  });
});

describe('reading', () => {
  it('an unknown tensor and a closed checkpoint are errors', () => {
    const checkpoint = openCheckpoint(folderOf({ 'model.safetensors': fileOf({ a: f32([1]) }) }));
    expect(refusal(() => checkpoint.read('b')).message).toContain('no tensor "b"');
    checkpoint.close();
    checkpoint.close();
    expect(refusal(() => checkpoint.read('a')).message).toContain('has been closed');
  });

  it('a file that became shorter after it was opened is an error', () => {
    const folder = folderOf({ 'model.safetensors': fileOf({ a: f32([100]) }) });
    const checkpoint = openCheckpoint(folder);
    writeFileSync(join(folder, 'model.safetensors'), 'short');
    const error = refusal(() => checkpoint.read('a'));
    expect(error.code).toBe('KVAD_E_FILE_SHRANK');
    expect(error.message).toMatch(/it had \d+ bytes when it was opened and has 5 now/);
    checkpoint.close();
  });

  it('a folder in place of a file is an error with its name', () => {
    const folder = folderOf();
    mkdirSync(join(folder, 'model.safetensors'));
    const error = refusal(() => openCheckpoint(folder));
    expect(error.code).toBe('KVAD_E_SAFETENSORS_READ');
    rmSync(join(folder, 'model.safetensors'), { recursive: true });
  });
});
