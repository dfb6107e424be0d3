import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { openBytes } from '../../../core/dist/checkpoint/read.js';
import { fileWithHeader, folderOf, refusal } from './files.js';

describe('positional reads', () => {
  it('reach tensors astride 2 and 4 GiB of a file of 5 GiB', () => {
    const GiB = 2 ** 30;
    const small = 64;
    const sizes = [2 * GiB - small / 2, small, 2 * GiB - small, small, GiB - small / 2];
    let end = 0;
    const header = Object.fromEntries(
      sizes.map((size, i) => [`t${i}`, { dtype: 'U8', shape: [size], data_offsets: [end, (end += size)] }]),
    );
    const head = fileWithHeader(header);
    const folder = folderOf({ 'model.safetensors': head });
    const file = openSync(join(folder, 'model.safetensors'), 'r+');
    ftruncateSync(file, head.length + end);
    const marks = [2 * GiB - small / 2, 4 * GiB - small / 2];
    for (const [i, at] of marks.entries())
      writeSync(file, new Uint8Array(small).fill(i + 1), 0, small, head.length + at);
    closeSync(file);

    const checkpoint = openCheckpoint(folder);
    expect(checkpoint.read('t1').bytes).toEqual(new Uint8Array(small).fill(1));
    expect(checkpoint.read('t3').bytes).toEqual(new Uint8Array(small).fill(2));
    checkpoint.close();
  });

  it('put together what one call does not give', () => {
    const content = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
    const source = openBytes(join(folderOf({ file: content }), 'file'), 7);
    expect(source.read(3, 900)).toEqual(content.subarray(3, 903));
    expect(source.read(1000, 0)).toHaveLength(0);
    expect(refusal(() => source.read(999, 2)).message).toContain('bytes 999 to 1001 were asked of 1000');
    source.close();
  });

  it('say which file is not there', () => {
    expect(refusal(() => openBytes(join(folderOf(), 'absent'))).message).toMatch(/absent cannot be read: ENOENT/);
  });
});
