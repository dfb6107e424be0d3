/** The process that `encode-elsewhere.ts` starts: a text becomes ids on stdout, as little-endian int32. */
import { text } from 'node:stream/consumers';
import { loadText } from '../text/index.js';
import type { EncodeOrder } from './encode-elsewhere.js';
import { int32Bytes } from './int32-bytes.js';
import { readScoredText } from './scored-text.js';

const { directory, file, parseSpecial } = JSON.parse(process.argv[2] ?? '') as EncodeOrder;
const { tokenizer } = await loadText(directory);
const content = file === null ? await text(process.stdin) : await readScoredText(file);
const ids = await tokenizer.encode(content, { special: false, parseSpecial, inPieces: true });
process.stdout.write(int32Bytes(Int32Array.from(ids)));
