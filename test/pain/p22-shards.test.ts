/** P22: a shard that is absent or cut off must stop the load, with its name, before any weight is read. */
import { rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changed, outcome } from './checkpoints.js';

const SHARD = 'model-00002-of-00002.safetensors';

describe('a sharded model', () => {
  it('loads whole', async () => {
    expect(await outcome(changed('dense-core/qwen2_sharded', {}))).toBeNull();
  });

  it('with a shard removed is refused by the name of the shard', async () => {
    const directory = changed('dense-core/qwen2_sharded', {});
    rmSync(join(directory, SHARD));
    expect(await outcome(directory)).toMatchObject({
      code: 'KVAD_E_SAFETENSORS_SHARD_MISSING',
      message: expect.stringContaining(SHARD),
    });
  });

  it('with a shard cut off is refused with the bytes that are missing', async () => {
    const directory = changed('dense-core/qwen2_sharded', {});
    const file = join(directory, SHARD);
    truncateSync(file, statSync(file).size - 1000);
    expect(await outcome(directory)).toMatchObject({
      code: 'KVAD_E_SAFETENSORS_TRUNCATED',
      message: expect.stringMatching(/model-00002-of-00002\.safetensors is cut off: 1000 of \d+ bytes are missing/),
    });
  });

  it('with its index removed loads: the shards are a complete set', async () => {
    const directory = changed('dense-core/qwen2_sharded', {});
    rmSync(join(directory, 'model.safetensors.index.json'));
    expect(await outcome(directory)).toBeNull();
  });
});
