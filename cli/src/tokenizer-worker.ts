import { parentPort } from 'node:worker_threads';
import { KeptTokenizer, serveTokenizer, type TokenizerOrder } from '@kvad/core';

if (parentPort === null) throw new Error('this module runs in the thread of a tokenizer');
const kept = new KeptTokenizer();
// One order after another, of models that are loaded and closed; the thread lives until it is ended.
parentPort.on('message', (order: TokenizerOrder) => {
  serveTokenizer(order, kept);
});
