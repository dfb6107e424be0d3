import { parentPort } from 'node:worker_threads';
import { serveTokenizer, type TokenizerOrder } from '@kvad/core';

if (parentPort === null) throw new Error('this module runs in the thread of a tokenizer');
parentPort.once('message', (order: TokenizerOrder) => {
  serveTokenizer(order);
  parentPort?.on('message', () => undefined); // the thread lives until it is ended
});
