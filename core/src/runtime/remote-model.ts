import type { TransferListItem, Worker } from 'node:worker_threads';
import { KvadError } from '../errors/kvad-error.js';
import type { PerplexityOptions, PerplexityRequest, PerplexityResult } from '../scoring/types.js';
import type { ChatMessage } from '../text/types.js';
import { RemoteSession } from './remote-session.js';
import type { LoadedModel, ModelFacts, RenderOptions, Session } from './types.js';
import { WorkerConnection } from './worker-connection.js';

export interface RemoteModelOptions {
  /** Its module serves a model with `serveModel`. */
  readonly worker: Worker;
  /** What `serveModel` gives to the function that loads; ports in it are `transfer`red. */
  readonly data: unknown;
  readonly transfer: readonly TransferListItem[];
  /** Told when the model ends: other threads that end with it, or are free then. */
  readonly companions: readonly { terminate(): Promise<unknown> }[];
  /** The model's folder, for messages. */
  readonly directory: string;
  /** Called when the worker has ended, whatever the reason. */
  onEnd(): void;
}

/** A model in a worker thread of its own. This thread only sends and receives messages. */
export class RemoteModel implements LoadedModel {
  readonly #connection: WorkerConnection;
  readonly #companions: RemoteModelOptions['companions'];
  readonly #sessions = new Map<number, RemoteSession>();
  #facts!: ModelFacts;
  #closing: Promise<void> | null = null;

  private constructor({ worker, directory, companions, onEnd }: RemoteModelOptions) {
    this.#companions = companions;
    this.#connection = new WorkerConnection(worker, directory, {
      held: (change) => this.#sessions.get(change.session)?.held(change),
      warnings: (warnings) => {
        this.#facts = { ...this.#facts, warnings };
      },
      ended: onEnd,
    });
  }

  /** Has the worker load its model: `loaded` says when, and what. */
  static start(options: RemoteModelOptions): { model: RemoteModel; loaded: Promise<RemoteModel> } {
    const model = new RemoteModel(options);
    return { model, loaded: model.#load(options) };
  }

  get facts(): ModelFacts {
    return this.#facts;
  }

  async session(): Promise<RemoteSession> {
    const id = await this.#connection.call('session', {});
    const session = new RemoteSession(this.#connection, id, () => this.#sessions.delete(id));
    this.#sessions.set(id, session);
    return session;
  }

  async step(sessions: readonly Session[], ids: readonly (readonly number[])[]): Promise<readonly Float32Array[]> {
    return this.#connection.call('step', { sessions: sessions.map((session) => this.#idOf(session)), ids });
  }

  encode(text: string, options: { special: boolean }): Promise<number[]> {
    return this.#connection.call('encode', { text, options });
  }

  decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string> {
    return this.#connection.call('decode', { ids, options });
  }

  render(messages: readonly ChatMessage[], options: RenderOptions): Promise<string> {
    return this.#connection.call('render', { messages, options });
  }

  perplexity(
    request: PerplexityRequest,
    { signal, onProgress = () => undefined }: PerplexityOptions = {},
  ): Promise<PerplexityResult> {
    return this.#connection.call('perplexity', { request }, { signal, onEvent: onProgress });
  }

  /** Ends what runs within one step, frees everything, and ends the worker. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends the worker at once, for a load that nobody waits for any more. */
  terminate(): Promise<void> {
    this.#closing ??= this.#terminate('engine');
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #load({ data, transfer }: RemoteModelOptions): Promise<this> {
    try {
      this.#facts = await this.#connection.call('load', { data }, { transfer });
      return this;
    } catch (error) {
      await this.terminate();
      throw error;
    }
  }

  async #close(): Promise<void> {
    // A worker that has stopped has nothing left to close.
    await this.#connection.call('close', {}).catch(() => undefined);
    await this.#terminate('model');
  }

  async #terminate(what: 'engine' | 'model'): Promise<void> {
    await Promise.all([
      this.#connection.terminate(new KvadError('KVAD_E_CLOSED', { what })),
      ...this.#companions.map((companion) => companion.terminate()),
    ]);
  }

  #idOf(session: Session): number {
    if (session instanceof RemoteSession && this.#sessions.get(session.id) === session) return session.id;
    throw new KvadError('KVAD_E_CLOSED', { what: 'session' });
  }
}
