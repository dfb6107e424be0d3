import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { KvadError, RemoteModel, type Engine, type LoadedModel, type LoadOptions } from '@kvad/core';
import { inject, injectable } from 'tsyringe';
import { modelFolder } from './model-folder.js';
import type { EngineSettings } from './engine-settings.js';
import type { StartThreads } from './start-threads.js';
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
  #closed = false;

  constructor(@inject(ENGINE_SETTINGS) settings: EngineSettings, @inject(START_THREADS) start: StartThreads) {
    this.#settings = settings;
    this.#startThreads = start;
  }

  async load(model: string | null, options: LoadOptions = {}): Promise<LoadedModel> {
    if (this.#closed) throw new KvadError('KVAD_E_CLOSED', { what: 'engine' });
    const settings = this.#settings;
    const directory = modelFolder(model, settings);
    const threads = this.#startThreads();
    const { port1, port2 } = new MessageChannel();
    const data: WorkerData = { settings, directory, options, tokenizer: port2 };
    const { model: remote, loaded } = RemoteModel.start({
      worker: threads.model,
      companions: [threads.tokenizer],
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
    ]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
