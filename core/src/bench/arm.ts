import { chooseOps } from '../kernels/choose-ops.js';
import type { Ops } from '../kernels/ops.js';
import { Model } from '../runtime/model.js';
import { prefill } from '../runtime/prefill.js';
import { Scheduler } from '../runtime/scheduler.js';
import { Sequence } from '../runtime/sequence.js';
import { largestIds } from '../sampling/largest.js';
import type { BenchSource } from './sources.js';
import { weightTraffic, type Variant, type WeightTraffic } from './variants.js';

export interface ArmOptions {
  readonly threads: number | null;
  readonly kvCacheDtype: 'f16' | 'f32';
  /** Rows of one forward of a prompt. */
  readonly batchSize: number;
}

/** One variant of a model, loaded: what a round measures, through the same steps that serve a request. */
export class Arm {
  readonly variant: Variant;
  readonly traffic: WeightTraffic;
  readonly loadMilliseconds: number;
  /** What there is to say of its quantised weights: a cache made anew, or one that cannot be written. */
  readonly notes: readonly string[];
  readonly #ops: Ops;
  readonly #model: Model;
  readonly #scheduler: Scheduler;
  readonly #batchSize: number;

  constructor(source: BenchSource, variant: Variant, { threads, kvCacheDtype, batchSize }: ArmOptions) {
    const start = performance.now();
    const env = { ...process.env, KVAD_DEQUANT: variant.dequantise ? '1' : '0' };
    const { plan, parts, slots } = source;
    this.variant = variant;
    this.#ops = chooseOps({ threads, kvCacheDtype }, env);
    this.#batchSize = batchSize;
    const weights = source.weights(variant.precision);
    const quantised = source.quantised(variant, this.#ops);
    const pieces = { plan, parts, slots, weights, ops: this.#ops, quant: variant.precision };
    try {
      this.#model = new Model(quantised === null ? pieces : { ...pieces, quantised });
    } catch (error) {
      quantised?.abandon();
      this.#ops.dispose();
      throw error;
    }
    this.notes = quantised?.finish() ?? [];
    this.#scheduler = new Scheduler(this.#model, batchSize);
    this.traffic = weightTraffic(plan, slots, weights, variant.precision);
    this.loadMilliseconds = performance.now() - start;
  }

  get kernels(): string {
    return this.#ops.name;
  }

  get threads(): number {
    return this.#ops.threads;
  }

  /** Seconds from a prompt to the token that follows it. */
  async prefill(ids: readonly number[], signal: AbortSignal): Promise<number> {
    const sequence = new Sequence(this.#model);
    try {
      const start = performance.now();
      await this.#append(sequence, ids, signal);
      return (performance.now() - start) / 1000;
    } finally {
      sequence.free();
    }
  }

  /** Seconds for each of these tokens, one step each, after `depth` others. */
  async decode(ids: readonly number[], depth: number, signal: AbortSignal): Promise<number[]> {
    const sequence = new Sequence(this.#model);
    try {
      await this.#append(sequence, ids.slice(0, depth), signal);
      const seconds: number[] = [];
      const into = new Float32Array(this.#model.plan.vocabSize);
      for (const id of ids.slice(depth)) {
        signal.throwIfAborted();
        const start = performance.now();
        const step = { sequence, ids: [id], finalLength: sequence.length + 1, logits: 'last' as const, into };
        choose(await this.#scheduler.run(step));
        seconds.push((performance.now() - start) / 1000);
      }
      return seconds;
    } finally {
      sequence.free();
    }
  }

  close(): void {
    this.#ops.dispose();
  }

  async #append(sequence: Sequence, ids: readonly number[], signal: AbortSignal): Promise<void> {
    if (ids.length === 0) return;
    const options = { chunk: this.#batchSize, logits: 'last' as const, signal };
    for await (const logits of prefill(this.#model, this.#scheduler, sequence, ids, options)) choose(logits);
  }
}

/** Choosing the token that greedy sampling takes is part of a step. */
const choose = (logits: Float32Array): number => largestIds(logits, 1)[0]!;
