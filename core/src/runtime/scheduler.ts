import type { Model } from './model.js';
import type { WantedLogits } from './pass.js';
import type { Sequence } from './sequence.js';

/** The next rows of a sequence. At most one step of a sequence waits at a time. */
export interface Step {
  readonly sequence: Sequence;
  readonly ids: readonly number[];
  readonly finalLength: number;
  readonly logits: WantedLogits;
  /** Where the `last` logits are put, `[vocab]`; absent: in an array of their own. */
  readonly into?: Float32Array | undefined;
  /** Runs alone, and only while no other step waits. */
  readonly background?: boolean;
}

interface Waiting {
  readonly step: Step;
  resolve(logits: Float32Array): void;
  reject(error: unknown): void;
}

/**
 * Collects the steps that sequences wait for and runs them together, one forward a turn of the event loop: all
 * single tokens that wait, and chunks of prompts, in the order of their coming, while they fit `batchRows` rows.
 * Background steps (scoring) run between them, when nothing else waits.
 * Between two forwards the event loop runs, so that messages (an abort) are seen.
 */
export class Scheduler {
  readonly #model: Model;
  readonly #batchRows: number;
  readonly #cancelled = new WeakMap<Sequence, Error>();
  #waiting: Waiting[] = [];
  #ticking = false;

  constructor(model: Model, batchRows: number) {
    this.#model = model;
    this.#batchRows = batchRows;
  }

  /** Resolves with the wanted logits when the step has run and the sequence holds its ids. */
  run(step: Step): Promise<Float32Array> {
    const reason = this.#cancelled.get(step.sequence);
    if (reason) return Promise.reject(reason);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step, resolve, reject });
      this.#wake();
    });
  }

  /**
   * Refuses the step that waits for this sequence, and all that come: who runs one may still be busy with text. None is
   * under way: a forward does not let others in.
   */
  cancel(sequence: Sequence, reason: Error): void {
    this.#cancelled.set(sequence, reason);
    for (const { step, reject } of this.#waiting) if (step.sequence === sequence) reject(reason);
    this.#waiting = this.#waiting.filter(({ step }) => step.sequence !== sequence);
  }

  #wake(): void {
    if (this.#ticking || this.#waiting.length === 0) return;
    this.#ticking = true;
    setImmediate(() => {
      this.#ticking = false;
      const batch = this.#collect();
      if (batch.length > 0) this.#forward(batch);
      this.#wake();
    });
  }

  #collect(): Waiting[] {
    let rows = 0;
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    const background = this.#waiting.every(({ step }) => step.background === true);
    for (const waiting of this.#waiting) {
      const { length } = waiting.step.ids;
      const fits = background
        ? batch.length === 0
        : waiting.step.background !== true && (length === 1 || rows === 0 || rows + length <= this.#batchRows);
      (fits ? batch : later).push(waiting);
      if (fits && length > 1) rows += length;
    }
    this.#waiting = later;
    return batch;
  }

  #forward(batch: readonly Waiting[]): void {
    const rows = batch.map(({ step: { sequence, ids, finalLength, logits, into } }) => {
      return { ids, position: sequence.length, finalLength, states: sequence.states, logits, into };
    });
    let logits: Float32Array[];
    try {
      logits = this.#model.forward(rows);
    } catch (error) {
      // The states may hold half a step: these sequences start again.
      for (const { step, reject } of batch) {
        step.sequence.reset();
        reject(error);
      }
      return;
    }
    batch.forEach(({ step, resolve }, index) => {
      step.sequence.commit(step.ids, step.finalLength);
      resolve(logits[index]!);
    });
  }
}
