import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { TextSide } from '../text/types.js';

/** Of the two ends of each weight file: gigabytes are not read for a number that only informs. */
const SAMPLE_BYTES = 2 ** 20;

/** Of config.json, and of name, size and both ends of each weight file. */
export const modelFingerprint = (directory: string): string => {
  const hash = createHash('sha256').update(readFileSync(join(directory, 'config.json')));
  const files = readdirSync(directory).filter((name) => name.endsWith('.safetensors'));
  for (const name of files.sort()) addFile(hash, directory, name);
  return hash.digest('hex');
};

const addFile = (hash: Hash, directory: string, name: string): void => {
  const fd = openSync(join(directory, name), 'r');
  try {
    const { size } = fstatSync(fd);
    const length = Math.min(SAMPLE_BYTES, size);
    hash.update(`\0${name}\0${size}\0`);
    for (const position of [0, size - length]) {
      const bytes = Buffer.alloc(length);
      hash.update(bytes.subarray(0, readSync(fd, bytes, 0, length, position)));
    }
  } finally {
    closeSync(fd);
  }
};

/** Of the tokens by id: two models with one vocabulary can be compared, however their files are written. */
export const vocabularyFingerprint = (text: TextSide, vocabSize: number): string | null => {
  if (text.facts.tokenizer === null) return null;
  const hash = createHash('sha256');
  for (let id = 0; id < vocabSize; id++) hash.update(`${JSON.stringify(text.tokenizer.tokenOf(id))}\n`);
  return hash.digest('hex');
};
