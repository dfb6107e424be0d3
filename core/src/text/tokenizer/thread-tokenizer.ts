import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { KvadError } from '../../errors/kvad-error.js';
import type { RawConfig } from '../../plan/config-source.js';
import { fromWire } from '../../runtime/wire-error.js';
import type { EncodeOptions, TextStream, Tokenizer } from '../types.js';
import { streamOf } from './checked-tokenizer.js';
import { loadTokenizer, type LoadedTokenizer } from './load-tokenizer.js';
import { isTokenId } from './token-id.js';
import type { Answered, Asked, OpenedTokenizer, Questions } from './tokenizer-protocol.js';

/** Loads the tokenizer of a folder: `loadTokenizer`, here or elsewhere. */
export type OpenTokenizer = (
  directory: string,
  config: RawConfig | null,
  rows: number | null,
) => Promise<LoadedTokenizer>;

/**
 * The tokenizer that another thread loads (`serveTokenizer`) while this one loads the weights: a vocabulary of real size
 * takes longer than they do. `port` leads to that thread, which has been told the folder.
 */
export const openThrough =
  (port: MessagePort): OpenTokenizer =>
  async (directory, config, rows) => {
    const thread = new TokenizerThread(port, directory);
    const opened = await thread.ask('open', null);
    // Without a tokenizer there is nothing to wait for, and every use of it is refused here.
    if (opened === null) return loadTokenizer(directory, config, rows);
    return { ...opened, tokenizer: new ThreadTokenizer(thread, opened) };
  };

/** The tokens of so many ids are asked for at once: a text comes back to the same few hundred. */
const BLOCK = 256;

class ThreadTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly #thread: TokenizerThread;
  readonly #facts: OpenedTokenizer['facts'];
  readonly #blocks = new Map<number, readonly (string | null)[]>();

  constructor(thread: TokenizerThread, { vocabSize, facts }: OpenedTokenizer) {
    this.vocabSize = vocabSize;
    this.#thread = thread;
    this.#facts = facts;
  }

  encode(text: string, options: EncodeOptions): Promise<number[]> {
    return this.#thread.ask('encode', { text, options });
  }

  decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string> {
    return this.#thread.ask('decode', { ids, options });
  }

  stream(options: { skipSpecial: boolean }): TextStream {
    return streamOf(this.#facts, this, options);
  }

  tokenOf(id: number): string | null {
    if (!isTokenId(id)) return null;
    const first = id - (id % BLOCK);
    let block = this.#blocks.get(first);
    if (block === undefined) {
      block = this.#thread.wait('tokens', { first, count: BLOCK });
      this.#blocks.set(first, block);
    }
    return block[id - first] ?? null;
  }

  idOf(token: string): number | null {
    return this.#thread.wait('idOf', { token });
  }

  join(tokens: readonly string[]): string {
    return this.#thread.wait('join', { tokens });
  }
}

/** Longer than any single answer takes: a thread that is silent for so long has ended. */
const LIMIT_MILLISECONDS = 60_000;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Asks the thread by messages; where no promise can be given, this thread stands still for the answer. */
class TokenizerThread {
  readonly #port: MessagePort;
  readonly #directory: string;
  readonly #flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #pending = new Map<number, Pending>();
  #count = 0;
  #closed = false;

  constructor(port: MessagePort, directory: string) {
    this.#port = port;
    this.#directory = directory;
    port.on('message', (message: Answered) => {
      this.#settle(message);
    });
    port.on('close', () => {
      this.#closed = true;
      for (const { reject } of this.#pending.values()) reject(this.#ended('it has ended'));
      this.#pending.clear();
    });
    port.unref();
  }

  ask<Q extends keyof Questions>(name: Q, request: Questions[Q]['request']): Promise<Questions[Q]['answer']> {
    if (this.#closed) return Promise.reject(this.#ended('it has ended'));
    return new Promise((resolve, reject) => {
      const id = this.#post(name, request, null);
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#port.ref();
    });
  }

  wait<Q extends keyof Questions>(name: Q, request: Questions[Q]['request']): Questions[Q]['answer'] {
    if (this.#closed) throw this.#ended('it has ended');
    Atomics.store(this.#flag, 0, 0);
    const id = this.#post(name, request, this.#flag);
    // An answer before this one may have been there before it was waited for: its notice comes only now, and says nothing.
    while (Atomics.load(this.#flag, 0) === 0) {
      const state = Atomics.wait(this.#flag, 0, 0, LIMIT_MILLISECONDS);
      if (state === 'timed-out') throw this.#ended('it does not answer');
    }
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { readonly message: Answered } | undefined;
      if (received === undefined) throw this.#ended('it has ended');
      const { message } = received;
      if (message.id !== id) this.#settle(message);
      else if ('error' in message) throw fromWire(message.error);
      else return message.value as Questions[Q]['answer'];
    }
  }

  #post<Q extends keyof Questions>(name: Q, request: Questions[Q]['request'], flag: Asked['flag']): number {
    const id = ++this.#count;
    this.#port.postMessage({ id, name, request, flag });
    return id;
  }

  #settle(message: Answered): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#port.unref();
    if ('error' in message) pending?.reject(fromWire(message.error));
    else pending?.resolve(message.value);
  }

  #ended(what: string): KvadError {
    const reason = `the thread of its tokenizer: ${what}`;
    return new KvadError('KVAD_E_WORKER', { directory: this.#directory, reason });
  }
}
