import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { KvadError, RemoteModel, type Engine, type LoadedModel, type LoadOptions } from '@kvad/core';
import { inject, injectable } from 'tsyringe';
import { modelFolder } from './model-folder.js';
import type { EngineSettings } from './engine-settings.js';
import type { StartThreads, TokenizerPlace } from './start-threads.js';
import { ENGINE_SETTINGS, START_THREADS } from './tokens.js';

/** What the module of a worker is sent with the call that loads its model. */
export interface WorkerData {
  readonly settings: EngineSettings;
  readonly directory: string;
  readonly options: LoadOptions;
  /** Leads to the thread of the tokenizer. */
  readonly tokenizer: MessagePort;
}

/** An engine with a worker thread for each model: this thread waits for none of the arithmetic. */
@injectable()
export class WorkerEngine implements Engine {
  readonly #settings: EngineSettings;
  readonly #startThreads: StartThreads;
  readonly #loading = new Set<RemoteModel>();
  readonly #loaded = new Set<RemoteModel>();
  /** The thread of a tokenizer whose model is closed, for the next one: it has what it made of the tokenizer (`KeptTokenizer`). */
  #free: TokenizerPlace | null = null;
  #closed = false;

  constructor(@inject(ENGINE_SETTINGS) settings: EngineSettings, @inject(START_THREADS) start: StartThreads) {
    this.#settings = settings;
    this.#startThreads = start;
  }

  async load(model: string | null, options: LoadOptions = {}): Promise<LoadedModel> {
    if (this.#closed) throw new KvadError('KVAD_E_CLOSED', { what: 'engine' });
    const settings = this.#settings;
    const directory = modelFolder(model, settings);
    const threads = this.#startThreads(this.#takeFree());
    let isLoaded = false;
    const { port1, port2 } = new MessageChannel();
    const data: WorkerData = { settings, directory, options, tokenizer: port2 };
    const { model: remote, loaded } = RemoteModel.start({
      worker: threads.model,
      // A thread that may still be busy with a load that failed is not for another.
      companions: [{ terminate: () => (isLoaded ? this.#release(threads.tokenizer) : threads.tokenizer.terminate()) }],
      data,
      transfer: [port2],
      directory,
      onEnd: () => this.#loaded.delete(remote),
    });
    this.#loading.add(remote);
    try {
      // After the other thread has its order: this one may be busy with the tokenizer now.
      threads.tokenizer.serve({ directory, port: port1 });
      await loaded;
      isLoaded = true;
      this.#loaded.add(remote);
      return remote;
    } finally {
      this.#loading.delete(remote);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([
      ...[...this.#loading].map((model) => model.terminate()),
      ...[...this.#loaded].map((model) => model.close()),
      this.#takeFree()?.terminate(),
    ]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #takeFree(): TokenizerPlace | null {
    const free = this.#free;
    this.#free = null;
    return free?.isAlive === true ? free : null;
  }

  /** One is kept, the last. */
  async #release(place: TokenizerPlace): Promise<void> {
    const older = this.#closed ? place : this.#takeFree();
    if (!this.#closed) this.#free = place;
    await older?.terminate();
  }
}
