import type { ErrorCode } from '../errors/catalog.js';
import { isKvadError, KvadError } from '../errors/kvad-error.js';
import type { GenerateEvent, GenerateOptions, Prompt, Session, SnapshotHandle } from './types.js';
import type { WorkerConnection } from './worker-connection.js';
import type { HeldChange } from './worker-protocol.js';

const GONE: ReadonlySet<ErrorCode> = new Set(['KVAD_E_CLOSED', 'KVAD_E_WORKER']);

/** A session in the worker of its model. */
export class RemoteSession implements Session {
  readonly id: number;
  readonly #connection: WorkerConnection;
  readonly #onClose: () => void;
  /** Numbers of snapshots are those of a session: another session may have one of the same number. */
  readonly #snapshots = new WeakSet<SnapshotHandle>();
  #tokens: number[] = [];

  constructor(connection: WorkerConnection, id: number, onClose: () => void) {
    this.#connection = connection;
    this.id = id;
    this.#onClose = onClose;
  }

  /** As of the last call that ended. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  held({ keep, added }: HeldChange): void {
    this.#tokens.length = keep;
    for (const id of added) this.#tokens.push(id);
  }

  prefill(
    ids: readonly number[],
    options: { logits?: 'none' | 'last' | 'all'; chunk?: number; signal?: AbortSignal } = {},
  ): Promise<Float32Array> {
    const { logits = 'last', chunk = null, signal } = options;
    return this.#connection.call('prefill', { session: this.id, ids, logits, chunk }, { signal });
  }

  /** The worker goes on while events are read: a reader that stops early ends it within one step. */
  async *generate(prompt: Prompt, { signal, ...options }: GenerateOptions = {}): AsyncGenerator<GenerateEvent> {
    const stopped = new AbortController();
    const stop = (): void => {
      stopped.abort(signal?.reason);
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    const events: GenerateEvent[] = [];
    let wake: () => void = () => undefined;
    let ended = false;
    const running = this.#connection
      .call(
        'generate',
        { session: this.id, prompt, options },
        {
          signal: stopped.signal,
          onEvent: (event) => {
            events.push(event);
            wake();
          },
        },
      )
      .finally(() => {
        ended = true;
        wake();
      });
    // It is awaited below, after the last event.
    running.catch(() => undefined);
    try {
      for (;;) {
        const event = events.shift();
        if (event) yield event;
        else if (ended) break;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      stop();
      await running;
    }
  }

  truncate(length: number): Promise<number> {
    return this.#connection.call('truncate', { session: this.id, length });
  }

  async snapshot(): Promise<SnapshotHandle> {
    const handle = await this.#connection.call('snapshot', { session: this.id });
    this.#snapshots.add(handle);
    return handle;
  }

  async restore(handle: SnapshotHandle): Promise<number> {
    return this.#connection.call('restore', { session: this.id, handle: this.#own(handle) });
  }

  async forget(handle: SnapshotHandle): Promise<void> {
    await this.#connection.call('forget', { session: this.id, handle: this.#own(handle) });
  }

  #own(handle: SnapshotHandle): SnapshotHandle {
    if (this.#snapshots.has(handle)) return handle;
    throw new KvadError('KVAD_E_SNAPSHOT', { id: handle.id });
  }

  /** What is gone already (the session, its model, the worker) needs no closing. */
  async close(): Promise<void> {
    try {
      await this.#connection.call('closeSession', { session: this.id });
    } catch (error) {
      if (!isKvadError(error) || !GONE.has(error.code)) throw error;
    }
    this.#onClose();
  }
}
