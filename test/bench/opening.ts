/**
 * How long it takes to open the files of models: safetensors and the cache of their quantised weights, to views of every
 * matrix. Run by hand, not by the tests:
 *
 *   node test/bench/opening.ts [--quant q8] [--rounds 20] FOLDER…
 *
 * Needs Node 22.18 or later, which runs TypeScript as it is, and caches that `kvad run --quant q8` has written.
 * Each round maps anew; the first, in which nothing is compiled yet, is given by itself.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openBytes } from '../../core/dist/checkpoint/read.js';
import { openCheckpoint } from '../../core/dist/checkpoint/open.js';
import { quantCacheFolder, quantCacheName } from '../../core/dist/checkpoint/quant-cache/identity.js';
import { openQuantCache, readHeader } from '../../core/dist/checkpoint/quant-cache/open-quant-cache.js';

const { values: given, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: { quant: { type: 'string', default: 'q8' }, rounds: { type: 'string', default: '20' } },
});
const quant = given.quant === 'q4' ? 'q4' : 'q8';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Opens, gives the bytes that lie in views, closes. */
type Opening = () => { bytes: number; views: number };

const checkpoint =
  (folder: string): Opening =>
  () => {
    const opened = openCheckpoint(folder);
    const names = [...opened.tensors.keys()];
    const bytes = names.reduce((sum, name) => sum + opened.read(name).bytes.length, 0);
    opened.close();
    return { bytes, views: names.length };
  };

const cache = (folder: string): Opening => {
  const file = path.join(quantCacheFolder(), quantCacheName(folder, quant));
  statSync(file); // says which is not there
  const source = openBytes(file);
  const header = readHeader(source);
  source.close();
  if (typeof header === 'string') throw new Error(`${file}: ${header}`);
  return () => {
    const opened = openQuantCache(file, header.identity);
    if (opened.cache === null) throw new Error(`${file}: ${String(opened.stale)}`);
    const keys = Object.keys(header.entries);
    const bytes = keys.reduce((sum, key) => sum + opened.cache.find(key)!.bytes.length, 0);
    opened.cache.close();
    return { bytes, views: keys.length };
  };
};

const measure = (name: string, open: Opening): void => {
  const times: number[] = [];
  let last = { bytes: 0, views: 0 };
  for (let round = 0; round <= Number(given.rounds); round++) {
    const start = performance.now();
    last = open();
    times.push(performance.now() - start);
  }
  const [first, ...rest] = times;
  const sorted = rest.sort((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(2);
  const size = `${(last.bytes / 1e6).toFixed(0)} MB in ${last.views} tensors`;
  say(`${name.padEnd(32)} ${size.padEnd(26)} ${at(0.5)} ms (${at(0)} to ${at(1)}); the first ${first!.toFixed(2)}`);
};

for (const folder of folders) {
  measure(`${path.basename(folder)} safetensors`, checkpoint(folder));
  measure(`${path.basename(folder)} ${quant} cache`, cache(folder));
}
