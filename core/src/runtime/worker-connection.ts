import type { TransferListItem, Worker } from 'node:worker_threads';
import { KvadError } from '../errors/kvad-error.js';
import { fromWire } from './wire-error.js';
import type { Calls, EventOf, FromWorker, HeldChange, Method } from './worker-protocol.js';

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  onEvent(event: unknown): void;
  readonly signal: AbortSignal | undefined;
}

export interface CallOptions<M extends Method> {
  readonly signal?: AbortSignal | undefined;
  onEvent?(event: EventOf<M>): void;
  /** Ports and buffers of the request that go over to the worker. */
  readonly transfer?: readonly TransferListItem[];
}

/** What the worker tells without being asked. */
export interface Listener {
  held(change: HeldChange): void;
  warnings(warnings: readonly string[]): void;
  /** The worker has ended, whatever the reason. */
  ended(): void;
}

/**
 * Calls to the worker of one model. A worker that stops makes every call fail, those that wait and those to come. The
 * process stays alive for a worker only while a call waits.
 */
export class WorkerConnection {
  readonly #worker: Worker;
  readonly #directory: string;
  readonly #listener: Listener;
  readonly #pending = new Map<number, Pending>();
  #count = 0;
  #failure: KvadError | null = null;

  constructor(worker: Worker, directory: string, listener: Listener) {
    this.#worker = worker;
    this.#directory = directory;
    this.#listener = listener;
    worker.on('message', (message: FromWorker) => {
      this.#receive(message);
    });
    worker.on('error', (error: Error) => {
      this.#stop(this.#stopped(error.message, error));
    });
    worker.on('messageerror', (error: Error) => {
      this.#stop(this.#stopped(error.message, error));
    });
    worker.on('exit', (code) => {
      this.#stop(this.#stopped(`its thread ended with code ${code}`));
      listener.ended();
    });
    worker.unref();
  }

  call<M extends Method>(
    method: M,
    request: Calls[M]['request'],
    { signal, onEvent = () => undefined, transfer = [] }: CallOptions<M> = {},
  ): Promise<Calls[M]['result']> {
    if (this.#failure) return Promise.reject(this.#failure);
    const call = ++this.#count;
    const abort = (): void => {
      this.#worker.postMessage({ type: 'abort', call });
    };
    return new Promise<Calls[M]['result']>((resolve, reject) => {
      // Posted first: what cannot be sent is this call's own error.
      const aborted = signal?.aborted ?? false;
      this.#worker.postMessage({ type: 'call', call, method, request, aborted }, transfer);
      this.#pending.set(call, {
        resolve: resolve as (value: unknown) => void,
        reject,
        onEvent: onEvent as (event: unknown) => void,
        signal,
      });
      this.#worker.ref();
      signal?.addEventListener('abort', abort, { once: true });
    }).finally(() => {
      signal?.removeEventListener('abort', abort);
    });
  }

  /** Ends the worker whatever it does; calls that wait are refused with `reason`. */
  async terminate(reason: KvadError): Promise<void> {
    this.#stop(reason);
    await this.#worker.terminate();
  }

  #receive(message: FromWorker): void {
    if (message.type === 'held') return this.#listener.held(message.change);
    if (message.type === 'warnings') return this.#listener.warnings(message.warnings);
    const pending = this.#pending.get(message.call);
    if (!pending) return;
    if (message.type === 'event') return pending.onEvent(message.event);
    this.#pending.delete(message.call);
    if (this.#pending.size === 0) this.#worker.unref();
    if (message.type === 'result') pending.resolve(message.value);
    else if (message.type === 'aborted') pending.reject(pending.signal?.reason);
    else pending.reject(fromWire(message.error));
  }

  #stop(failure: KvadError): void {
    this.#failure ??= failure;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of waiting) reject(this.#failure);
  }

  #stopped(reason: string, cause?: Error): KvadError {
    return new KvadError('KVAD_E_WORKER', { directory: this.#directory, reason }, cause ? { cause } : {});
  }
}
