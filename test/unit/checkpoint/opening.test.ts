/** Opening is mapping: it reads headers, whatever the files hold. Counted, for a clock says little on a busy machine. */
import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { FORMAT_VERSION } from '../../../core/dist/checkpoint/quant-cache/layout.js';
import { fileWithHeader, folderOf } from './files.js';

const dist = resolve('core/dist');
const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** Tensors of a file; their sizes make the difference between files. */
const COUNT = 40;

/** A safetensors file of holes: it has a size and takes no room. */
const sparseModel = (bytesEach: number): string => {
  const header = Object.fromEntries(
    Array.from({ length: COUNT }, (_, i) => [
      `t${i}`,
      { dtype: 'U8', shape: [bytesEach], data_offsets: [i * bytesEach, (i + 1) * bytesEach] },
    ]),
  );
  const head = fileWithHeader(header);
  const folder = folderOf({ 'model.safetensors': head });
  truncateSync(join(folder, 'model.safetensors'), head.length + COUNT * bytesEach);
  return folder;
};

/** A quant cache of holes. */
const sparseCache = (folder: string, bytesEach: number): void => {
  const identity = { precision: 'q8', layout: 1, bindings: '', sources: [] };
  const entries = Object.fromEntries(
    Array.from({ length: COUNT }, (_, i) => [
      `q8 t${i}`,
      { shape: [bytesEach / 544, 512], precision: 'q8', offset: 64 + i * bytesEach, length: bytesEach },
    ]),
  );
  const header = Buffer.from(JSON.stringify({ identity, entries }));
  const start = 64 + COUNT * bytesEach;
  const prefix = Buffer.alloc(64);
  prefix.set([0x4b, 0x56, 0x41, 0x44, 0x51, 0, 0, FORMAT_VERSION]);
  prefix.writeBigUInt64LE(BigInt(start), 8);
  prefix.writeBigUInt64LE(BigInt(header.length), 16);
  const file = join(folder, 'cache.kvq');
  writeFileSync(file, prefix);
  truncateSync(file, start);
  writeFileSync(file, header, { flag: 'a' });
};

/** What a process of its own reads of files, and how much it grows, by opening both and taking every matrix. */
const opening = (folder: string): { read: number; grown: number; held: number } => {
  const source = `
    import { readFileSync } from 'node:fs';
    import { openCheckpoint } from ${JSON.stringify(`${dist}/checkpoint/open.js`)};
    import { openQuantCache } from ${JSON.stringify(`${dist}/checkpoint/quant-cache/open-quant-cache.js`)};
    import { loadAddon } from ${JSON.stringify(`${dist}/kernels/native/addon.js`)};
    loadAddon();
    const counted = () => Number(/rchar: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
    const resident = () => 1024 * Number(/RssFile:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    const before = [counted(), resident()];
    const checkpoint = openCheckpoint(${JSON.stringify(folder)});
    const identity = { precision: 'q8', layout: 1, bindings: '', sources: [] };
    const { cache, stale } = openQuantCache(${JSON.stringify(join(folder, 'cache.kvq'))}, identity);
    if (stale !== null) throw new Error(stale);
    const views = [...checkpoint.tensors.keys()].flatMap((n) => [checkpoint.read(n).bytes, cache.find('q8 ' + n).bytes]);
    const held = views.reduce((sum, { length }) => sum + length, 0);
    console.log(JSON.stringify({ read: counted() - before[0], grown: resident() - before[1], held }));`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
  return JSON.parse(out) as { read: number; grown: number; held: number };
};

const both = (bytesEach: number) => {
  const folder = sparseModel(bytesEach);
  sparseCache(folder, bytesEach);
  return opening(folder);
};

describe.runIf(loadAddon() !== null && process.platform === 'linux')('opening a checkpoint and its quant cache', () => {
  it('reads their headers and no more, however large they are', () => {
    const [small, large] = [both(544 * 64), both(544 * 64 * 16_384)];
    expect(large.held).toBeGreaterThan(40 * GiB);
    expect(large.held).toBe(16_384 * small.held);
    // Numbers in the headers have some digits more; modules that are loaded on the way are the same.
    expect(large.read - small.read).toBeLessThan(32 * 1024);
    expect(large.grown).toBeLessThan(16 * MiB);
  });
});
