import type { ModelPlan } from '@kvad/schemas';
import type { Dims, Norm, Parts, SideInput, Stack } from '../axes/parts.js';
import type { BoundWeights } from '../checkpoint/checkpoint.js';
import { KvadError } from '../errors/kvad-error.js';
import type { Ops } from '../kernels/ops.js';
import { RopeTables } from '../kernels/rope-tables.js';
import type { Precision, Tensor } from '../kernels/tensor.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import { Embedding } from './embedding.js';
import { Head } from './head.js';
import { Layer } from './layer.js';
import { blame } from './part-registry.js';
import { Pass, type SequenceRows } from './pass.js';
import type { QuantisedWeights } from './quantised-weights.js';
import { SequenceStates, type StateSlot } from './sequence-states.js';
import { WeightHandles } from './weight-handles.js';

export interface ModelPieces {
  readonly plan: ModelPlan;
  readonly slots: readonly PlannedSlot[];
  readonly weights: BoundWeights;
  readonly parts: Parts;
  readonly ops: Ops;
  readonly quant: Precision | null;
  /** Where quantised matrices come from; absent: they are made here. */
  readonly quantised?: QuantisedWeights;
}

/** Rows whose logits are computed at once: bounds the scratch of a large vocabulary. */
export const HEAD_ROWS = 64;

/**
 * A plan with its weights: token ids in, logits out. It owns the weights and nothing of any sequence.
 *   x = enter(embedding(ids)); for each visit of the schedule: x = layer(x); logits = head(norm(leave(x)))
 */
export class Model {
  readonly plan: ModelPlan;
  readonly rope: RopeTables;
  readonly stateSlots: readonly StateSlot[];
  /** Tokens that a sequence may have: the plan's, and no more than the positions that are learned. */
  readonly contextLength: number;
  /** Of the weights, in the precisions in which they are held. */
  readonly weightBytes: number;
  readonly #ops: Ops;
  readonly #embedding: Embedding;
  readonly #inputs: readonly { name: string; kind: string; part: SideInput }[];
  readonly #stack: Stack;
  readonly #layers: readonly Layer[];
  readonly #schedule: readonly { layer: Layer; visit: number }[];
  readonly #finalNorm: Norm | null;
  readonly #head: Head;

  constructor({ plan, slots, weights: bound, parts, ops, quant, quantised }: ModelPieces) {
    const dims: Dims = { hiddenSize: plan.hiddenSize, vocabSize: plan.vocabSize };
    const weights = new WeightHandles(slots, bound, ops, quant, quantised);
    this.plan = plan;
    this.#ops = ops;
    this.rope = new RopeTables(plan.ropeTables);
    this.#embedding = new Embedding(plan, weights, parts, ops);
    this.#inputs = plan.inputs.map(({ name, kind, options }) => {
      const part = parts.create('input', { kind, options }, dims, weights.under(`inputs.${name}.`), ops);
      return { name, kind, part };
    });
    this.#stack = parts.create('stack', plan.stack, dims, weights.under('stack.'), ops);
    this.#layers = plan.layers.map((layer, index) => new Layer(layer, index, dims, weights, parts, ops));
    this.#finalNorm =
      plan.finalNorm && parts.createNorm(plan.finalNorm, plan.hiddenSize, weights.under('finalNorm.'), ops);
    this.#head = new Head(plan, weights, parts, ops);
    this.#schedule = this.#visits();
    this.stateSlots = this.#schedule.flatMap(({ layer, visit }) => layer.stateSlots(visit));
    this.contextLength = contextOf(plan);
    this.weightBytes = weights.bytes;
  }

  /** Memory for one more sequence. */
  states(): SequenceStates {
    return new SequenceStates(this.#ops, this.stateSlots);
  }

  /**
   * True if at that length the angles of all positions depend on it: what was cached at another length was computed with
   * other angles, and continues as published, but is not what the same tokens would give at once.
   */
  anglesFollowLength(length: number): boolean {
    return Object.values(this.plan.ropeTables).some(
      (table) => table.type === 'dynamic' && table.alpha === null && length > table.originalContext,
    );
  }

  /**
   * One forward of rows of several sequences, whose states it moves on. Gives each sequence's logits, row-major
   * `[wanted rows, vocab]`, or nothing where a sink has taken them. After an error the states of these sequences are
   * not to be used.
   */
  forward(sequences: readonly SequenceRows[]): Float32Array[] {
    const mark = this.#ops.mark();
    try {
      const pass = new Pass(this.#ops, Object.keys(this.plan.ropeTables), this.rope, sequences);
      const hidden = this.#hidden(pass);
      const logits = this.#logits(hidden, pass, sequences);
      // Where nobody wants logits nobody has waited: what fails is to fail here, not in another sequence's forward.
      this.#ops.host(this.#ops.rows(hidden, 0, 1));
      return logits;
    } catch (error) {
      this.#runRecorded();
      throw error;
    } finally {
      this.#ops.release(mark);
    }
  }

  /** After an error: what was recorded before it is run, for nothing of it may stay behind for the next forward. */
  #runRecorded(): void {
    try {
      this.#ops.host(this.#ops.tensor(1, 1));
    } catch {
      // what fails here follows from the error that is thrown
    }
  }

  #hidden(pass: Pass): Tensor {
    const embedding = this.#embedding.forward(pass.batch);
    for (const { name, kind, part } of this.#inputs) {
      pass.addInput(
        name,
        blame('input', kind, () => part.forward(embedding, pass)),
      );
    }
    const { kind } = this.plan.stack;
    const x = blame('stack', kind, () => this.#stack.enter(embedding, pass));
    for (const { layer, visit } of this.#schedule) {
      blame('stack', kind, () => {
        this.#stack.before(visit, x, pass);
      });
      layer.forward(visit, x, pass);
    }
    return blame('stack', kind, () => this.#stack.leave(x, pass));
  }

  /** Final norm and head, of the wanted rows only, in blocks. */
  #logits(hidden: Tensor, pass: Pass, sequences: readonly SequenceRows[]): Float32Array[] {
    const { vocabSize } = this.plan;
    const wanted = pass.batch.segments.map(({ length }, index) => wantedRows(sequences[index]!, length, vocabSize));
    const rows = wanted.flatMap(({ from, to, take }, index) =>
      Array.from({ length: to - from }, (_, i) => ({ row: from + i, start: pass.batch.segments[index]!.start, take })),
    );
    for (let from = 0; from < rows.length; from += HEAD_ROWS) {
      const block = rows.slice(from, from + HEAD_ROWS);
      const mark = this.#ops.mark();
      const picked = this.#pick(
        hidden,
        block.map(({ start, row }) => start + row),
      );
      const normed = this.#finalNorm ? this.#ops.tensor(picked.rows, picked.cols) : picked;
      this.#finalNorm?.forward(picked, normed);
      const logits = this.#ops.host(this.#head.forward(normed)) as Float32Array;
      for (let first = 0, next = 0; first < block.length; first = next) {
        const { take, row } = block[first]!;
        while (next < block.length && block[next]!.take === take) next++;
        take(logits.subarray(first * vocabSize, next * vocabSize), row);
      }
      this.#ops.release(mark);
    }
    return wanted.map(({ kept }) => kept);
  }

  /** These rows of `x` as one tensor: a view where they are adjacent. */
  #pick(x: Tensor, rows: readonly number[]): Tensor {
    const runs: { start: number; length: number }[] = [];
    for (const row of rows) {
      const last = runs.at(-1);
      if (last && last.start + last.length === row) last.length++;
      else runs.push({ start: row, length: 1 });
    }
    if (runs.length === 1) return this.#ops.rows(x, runs[0]!.start, runs[0]!.length);
    const picked = this.#ops.tensor(rows.length, x.cols);
    let at = 0;
    for (const { start, length } of runs) {
      this.#ops.copy(this.#ops.rows(x, start, length), this.#ops.rows(picked, at, length));
      at += length;
    }
    return picked;
  }

  /** Layers in the order in which they are visited. Each visit has a state of its own. */
  #visits(): { layer: Layer; visit: number }[] {
    const taken = new Set<number>();
    return this.plan.schedule.map(({ layer: index, state }, visit) => {
      const layer = this.#layers[index];
      if (!layer)
        throw new KvadError('KVAD_E_PLAN_SCHEDULE', { visit, reason: `names layer ${index}, which is absent` });
      if (taken.has(state)) {
        throw new KvadError('KVAD_E_PLAN_SCHEDULE', {
          visit,
          reason: `has state ${state}, which an earlier visit has`,
        });
      }
      taken.add(state);
      return { layer, visit };
    });
  }
}

interface WantedRows {
  readonly from: number;
  readonly to: number;
  take(block: Float32Array, firstRow: number): void;
  /** What is given back. */
  readonly kept: Float32Array;
}

const wantedRows = ({ logits, into }: SequenceRows, length: number, vocabSize: number): WantedRows => {
  if (typeof logits === 'object') {
    const { from, to } = logits;
    return {
      from,
      to,
      take: (block, row) => {
        logits.take(block, row);
      },
      kept: new Float32Array(0),
    };
  }
  const count = { none: 0, last: Math.min(1, length), all: length }[logits];
  const from = length - count;
  const kept = into && logits === 'last' && count === 1 ? into : new Float32Array(count * vocabSize);
  return {
    from,
    to: length,
    take: (block, row) => {
      kept.set(block, (row - from) * vocabSize);
    },
    kept,
  };
};

/** Tokens that a sequence of this plan may have. */
export const contextOf = ({ contextLength, embedding: { positions } }: ModelPlan): number =>
  positions.kind === 'learned' ? Math.min(contextLength, positions.count - positions.offset) : contextLength;
