import { constants } from 'node:buffer';
import { closeSync, ftruncateSync, openSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBytes } from '../../../core/dist/checkpoint/read.js';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { folderOf, refusal } from './files.js';

const GiB = 2 ** 30;
/** Enough to be a view. */
const LENGTH = 2 ** 16;
const PLACES = [0, 4097, GiB - 100, 2 * GiB, 3 * GiB - LENGTH, 4 * GiB - 1000, 5 * GiB - LENGTH - 3];

describe.runIf(loadAddon() !== null)('a mapped file', () => {
  it('gives views at any place, of files larger than one view can be', () => {
    const file = join(folderOf({ file: new Uint8Array(1) }), 'file');
    const descriptor = openSync(file, 'r+');
    ftruncateSync(descriptor, 5 * GiB);
    const content = Uint8Array.from({ length: LENGTH }, (_, i) => (i * 7) % 251);
    for (const place of PLACES) writeSync(descriptor, content, 0, LENGTH, place);
    closeSync(descriptor);
    const source = openBytes(file);
    const views = PLACES.map((place) => source.read(place, LENGTH));
    source.close();
    // The first two overlap: what is written last is there.
    for (const view of views.slice(1)) expect(Buffer.compare(view, content)).toBe(0);
    expect(Buffer.compare(views[0]!.subarray(0, 4097), content.subarray(0, 4097))).toBe(0);
  });

  it('shares memory between neighbours', () => {
    const file = join(folderOf({ file: new Uint8Array(4 * LENGTH).fill(3) }), 'file');
    const source = openBytes(file);
    expect(source.read(0, LENGTH).buffer).toBe(source.read(3 * LENGTH, LENGTH).buffer);
    expect(source.copy(0, LENGTH)).toHaveLength(LENGTH);
    expect(source.copy(0, LENGTH).buffer).not.toBe(source.read(0, LENGTH).buffer);
    source.close();
  });

  it('that has been cut since is refused', () => {
    const file = join(folderOf({ file: new Uint8Array(2 * LENGTH) }), 'file');
    const source = openBytes(file);
    truncateSync(file, LENGTH);
    expect(refusal(() => source.read(0, LENGTH))).toMatchObject({
      code: 'KVAD_E_FILE_SHRANK',
      params: { file, opened: 2 * LENGTH, now: LENGTH },
    });
    source.close();
  });

  it.runIf(constants.MAX_LENGTH < 8 * GiB)('gives no view of more than one can hold', () => {
    const file = join(folderOf({ file: new Uint8Array(1) }), 'file');
    truncateSync(file, 9 * GiB);
    const source = openBytes(file);
    expect(refusal(() => source.read(1, 8 * GiB + 1)).message).toContain('more than this system gives');
    source.close();
  });
});
