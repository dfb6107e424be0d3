import { KvadError } from '../errors/kvad-error.js';
import { generate, type Generator } from './generate.js';
import { positive } from './load-options.js';
import { prefill } from './prefill.js';
import type { SequenceSnapshot } from './sequence.js';
import { Turns } from './turns.js';
import type { GenerateEvent, GenerateOptions, Prompt, Session, SnapshotHandle } from './types.js';

/** A session in the thread of its model. Calls on it run one after the other. */
export class LocalSession implements Session {
  readonly #generator: Generator;
  readonly #turns = new Turns();
  readonly #snapshots = new Map<number, SequenceSnapshot>();
  readonly #onClose: () => void;
  #snapshotCount = 0;
  #closed = false;

  constructor(generator: Generator, onClose: () => void) {
    this.#generator = generator;
    this.#onClose = onClose;
  }

  get tokens(): readonly number[] {
    return this.#generator.sequence.ids;
  }

  prefill(
    ids: readonly number[],
    options: { logits?: 'none' | 'last' | 'all'; chunk?: number; signal?: AbortSignal } = {},
  ): Promise<Float32Array> {
    const { model, scheduler, sequence, chunk: usual } = this.#generator;
    const { logits = 'last', signal } = options;
    return this.#run(async () => {
      const chunk = positive('chunk', options.chunk ?? usual);
      const parts: Float32Array[] = [];
      for await (const part of prefill(model, scheduler, sequence, ids, { chunk, logits, signal })) parts.push(part);
      if (ids.length > 1) sequence.checkpoint();
      return joined(parts);
    });
  }

  async *generate(prompt: Prompt, options: GenerateOptions = {}): AsyncGenerator<GenerateEvent> {
    const end = await this.#turns.take();
    try {
      this.#requireOpen();
      yield* generate(this.#generator, prompt, options);
    } finally {
      end();
    }
  }

  truncate(length: number): Promise<number> {
    return this.#run(() => {
      if (Number.isSafeInteger(length) && length >= 0) return this.#generator.sequence.truncate(length);
      throw new KvadError('KVAD_E_OPTION', {
        option: 'length',
        value: String(length),
        expected: 'an integer of at least 0',
      });
    });
  }

  snapshot(): Promise<SnapshotHandle> {
    return this.#run(() => {
      const snapshot = this.#generator.sequence.snapshot();
      const id = ++this.#snapshotCount;
      this.#snapshots.set(id, snapshot);
      return { id, length: snapshot.ids.length, bytes: snapshot.states.bytes };
    });
  }

  restore({ id }: SnapshotHandle): Promise<number> {
    return this.#run(() => {
      const snapshot = this.#snapshots.get(id);
      if (!snapshot) throw new KvadError('KVAD_E_SNAPSHOT', { id });
      this.#generator.sequence.restore(snapshot);
      return snapshot.ids.length;
    });
  }

  forget({ id }: SnapshotHandle): Promise<void> {
    return this.#run(() => {
      if (!this.#snapshots.delete(id)) throw new KvadError('KVAD_E_SNAPSHOT', { id });
    });
  }

  /** Frees at once; what still waits for a forward is refused. */
  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      const { scheduler, sequence } = this.#generator;
      scheduler.cancel(sequence, new KvadError('KVAD_E_CLOSED', { what: 'session' }));
      sequence.free();
      this.#snapshots.clear();
      this.#onClose();
    }
    return Promise.resolve();
  }

  #run<T>(job: () => T | Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      this.#requireOpen();
      return job();
    });
  }

  #requireOpen(): void {
    if (this.#closed) throw new KvadError('KVAD_E_CLOSED', { what: 'session' });
  }
}

const joined = (parts: readonly Float32Array[]): Float32Array => {
  if (parts.length === 1) return parts[0]!;
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
};
