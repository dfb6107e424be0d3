import type { MessagePort } from 'node:worker_threads';
import { KvadError } from '../errors/kvad-error.js';
import type { LocalModel } from './local-model.js';
import type { LocalSession } from './local-session.js';
import { commonPrefix } from './sequence.js';
import { toWire } from './wire-error.js';
import type { Calls, FromWorker, Method, ToWorker } from './worker-protocol.js';

interface ServedSession {
  readonly session: LocalSession;
  /** The tokens that the other side knows of. */
  known: readonly number[];
}

type Handlers = {
  [M in Method]: (request: Calls[M]['request'], call: number, signal: AbortSignal) => Promise<Calls[M]['result']>;
};

/** `data` is what the caller's `RemoteModel.start` was given. */
type Load = (data: unknown) => Promise<LocalModel>;

/**
 * Answers the calls of an engine with a model of this thread. Calls overlap: between two forwards the event loop runs,
 * and the next messages are read.
 */
export const serveModel = (port: MessagePort, load: Load): void => {
  new ModelServer(port, load).start();
};

class ModelServer {
  readonly #port: MessagePort;
  readonly #load: Load;
  readonly #sessions = new Map<number, ServedSession>();
  readonly #running = new Map<number, AbortController>();
  #model: LocalModel | null = null;
  #sessionCount = 0;
  #warnings = 0;

  constructor(port: MessagePort, load: Load) {
    this.#port = port;
    this.#load = load;
  }

  start(): void {
    this.#port.on('message', (message: ToWorker) => {
      if (message.type === 'abort') this.#running.get(message.call)?.abort();
      else void this.#answer(message);
    });
  }

  async #answer({ call, method, request, aborted }: Extract<ToWorker, { type: 'call' }>): Promise<void> {
    const controller = new AbortController();
    if (aborted) controller.abort();
    this.#running.set(call, controller);
    try {
      const handle = this.#handlers[method] as (
        request: unknown,
        call: number,
        signal: AbortSignal,
      ) => Promise<Calls[Method]['result']>;
      const value = await handle(request, call, controller.signal);
      this.#tellChanges(request);
      this.#send({ type: 'result', call, value }, buffersOf(value));
    } catch (error) {
      this.#tellChanges(request);
      const { signal } = controller;
      if (signal.aborted && error === signal.reason) this.#send({ type: 'aborted', call });
      else this.#send({ type: 'error', call, error: toWire(error) });
    }
    this.#running.delete(call);
  }

  readonly #handlers: Handlers = {
    load: async ({ data }) => {
      this.#model = await this.#load(data);
      const { facts } = this.#model;
      this.#warnings = facts.warnings.length;
      return facts;
    },
    session: async () => {
      const session = await this.#loaded().session();
      const id = ++this.#sessionCount;
      this.#sessions.set(id, { session, known: [] });
      return id;
    },
    prefill: ({ session, ids, logits, chunk }, _, signal) =>
      this.#session(session).prefill(ids, { logits, ...(chunk === null ? {} : { chunk }), signal }),
    generate: async ({ session, prompt, options }, call, signal) => {
      for await (const event of this.#session(session).generate(prompt, { ...options, signal })) {
        this.#send({ type: 'event', call, event });
      }
      return null;
    },
    truncate: ({ session, length }) => this.#session(session).truncate(length),
    snapshot: ({ session }) => this.#session(session).snapshot(),
    restore: ({ session, handle }) => this.#session(session).restore(handle),
    forget: async ({ session, handle }) => {
      await this.#session(session).forget(handle);
      return null;
    },
    closeSession: async ({ session }) => {
      await this.#session(session).close();
      this.#sessions.delete(session);
      return null;
    },
    step: ({ sessions, ids }) =>
      this.#loaded().step(
        sessions.map((session) => this.#session(session)),
        ids,
      ),
    encode: ({ text, options }) => this.#loaded().encode(text, options),
    decode: ({ ids, options }) => this.#loaded().decode(ids, options),
    render: ({ messages, options }) => this.#loaded().render(messages, options),
    perplexity: ({ request }, call, signal) =>
      this.#loaded().perplexity(request, {
        signal,
        onProgress: (event) => {
          this.#send({ type: 'event', call, event });
        },
      }),
    close: async () => {
      await this.#model?.close();
      return null;
    },
  };

  #loaded(): LocalModel {
    if (!this.#model) throw new KvadError('KVAD_E_CLOSED', { what: 'model' });
    return this.#model;
  }

  #session(id: number): LocalSession {
    const served = this.#sessions.get(id);
    if (!served) throw new KvadError('KVAD_E_CLOSED', { what: 'session' });
    return served.session;
  }

  /** What a call has changed in the tokens of its sessions, and new warnings. */
  #tellChanges(request: Calls[Method]['request']): void {
    for (const id of sessionsIn(request)) {
      const served = this.#sessions.get(id);
      if (!served) continue;
      const { tokens } = served.session;
      const keep = commonPrefix(served.known, tokens);
      if (keep === served.known.length && keep === tokens.length) continue;
      served.known = [...tokens];
      this.#send({ type: 'held', change: { session: id, keep, added: tokens.slice(keep) } });
    }
    const warnings = this.#model?.facts.warnings ?? [];
    if (warnings.length > this.#warnings) this.#send({ type: 'warnings', warnings });
    this.#warnings = warnings.length;
  }

  #send(message: FromWorker, buffers: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, buffers);
  }
}

const sessionsIn = (request: Calls[Method]['request']): readonly number[] => {
  if ('sessions' in request) return request.sessions;
  return 'session' in request ? [request.session] : [];
};

/** Logits are handed over, not copied. */
const buffersOf = (value: unknown): ArrayBuffer[] => {
  const arrays = Array.isArray(value) ? value : [value];
  return arrays.flatMap((array) =>
    array instanceof Float32Array && array.buffer instanceof ArrayBuffer ? [array.buffer] : [],
  );
};
