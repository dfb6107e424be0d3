import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BUILTIN_PARTS,
  createReferenceOps,
  decoder,
  PartRegistry,
  planSlots,
  pre,
  rms,
  type BoundWeights,
  type ModelPlan,
  type Ops,
  type PlannedSlot,
  type Plugin,
  type RopeTablePlan,
  type WeightData,
} from '@kvad/core';
import { writeSafetensors } from '@kvad/core/testing';
import { Model } from '../../../core/dist/runtime/model.js';
import { prefill } from '../../../core/dist/runtime/prefill.js';
import { Scheduler } from '../../../core/dist/runtime/scheduler.js';
import { Sequence, type CheckpointPolicy } from '../../../core/dist/runtime/sequence.js';

export const TOY_FOLDER = fileURLToPath(new URL('./kvad-arch-toy', import.meta.url));
export const TOY: Plugin = ((await import(`${TOY_FOLDER}/index.js`)) as { default: Plugin }).default;

export const VOCAB = 32;
export const HIDDEN = 8;

type Mixer = 'toy-attention' | 'toy-memory';
export type Fault = 'none' | 'throw' | 'exit' | 'nan' | 'slow' | 'print';

export interface ToyChoice {
  readonly mixers?: readonly Mixer[];
  readonly fault?: Fault;
  readonly rope?: RopeTablePlan;
  readonly contextLength?: number;
}

/** Attention and memory, in turn: cuttable and uncuttable state in one model. */
export const BOTH: readonly Mixer[] = ['toy-attention', 'toy-memory', 'toy-attention'];

export const toyPlan = ({ mixers = BOTH, fault = 'none', rope, contextLength = 256 }: ToyChoice = {}): ModelPlan => ({
  version: 1,
  family: 'toy',
  modelType: 'toy_lm',
  ...decoder({
    vocabSize: VOCAB,
    hiddenSize: HIDDEN,
    contextLength,
    layerCount: mixers.length,
    layer: (index) =>
      pre(rms(1e-5), {
        mixer: { kind: mixers[index]!, ...(mixers[index] === 'toy-attention' ? { rope: rope ? 'main' : null } : {}) },
        ffn: { kind: 'toy-ffn', fault: index === 0 ? fault : 'none' },
      }),
    rope: rope ? { main: rope } : {},
    finalNorm: rms(1e-5),
    head: { tied: false },
  }),
});

/** Values of a weight: no two weights alike, around 0 (around 1 for vectors). */
export const toyWeight = ({ name, shape }: PlannedSlot): WeightData => {
  const count = shape.reduce((product, size) => product * size, 1);
  let state = [...name].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0, 7);
  const values = Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 1.6 + (shape.length === 1 ? 1 : 0);
  });
  return { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) };
};

export const toyWeights = (slots: readonly PlannedSlot[]): BoundWeights => {
  const bySlot = new Map(slots.map((slot) => [slot.name, slot]));
  return {
    has: (slot) => bySlot.has(slot),
    read: (slot) => toyWeight(bySlot.get(slot)!),
    sourceOf: (slot) => slot,
  };
};

export const TOY_PARTS = PartRegistry.of([BUILTIN_PARTS, TOY]);

export const toyModel = (
  plan: ModelPlan = toyPlan(),
  ops: Ops = createReferenceOps({ kvCacheDtype: 'f32' }),
): Model => {
  const slots = planSlots(plan, TOY_PARTS);
  return new Model({ plan, slots, weights: toyWeights(slots), parts: TOY_PARTS, ops, quant: null });
};

/** Often enough that a short prompt crosses several. */
const POLICY: CheckpointPolicy = { every: 8, budget: 2 ** 20 };

/** One sequence of a model, with a scheduler that it may share. */
export class ToySequence {
  readonly sequence: Sequence;

  constructor(
    readonly model: Model,
    readonly scheduler: Scheduler = new Scheduler(model, 512),
    policy: CheckpointPolicy = POLICY,
  ) {
    this.sequence = new Sequence(model, policy);
  }

  /** Logits `[ids.length, vocab]`, as plain numbers. */
  async append(ids: readonly number[], chunk = 512): Promise<number[]> {
    const logits: number[] = [];
    const options = { chunk, logits: 'all' } as const;
    for await (const part of prefill(this.model, this.scheduler, this.sequence, ids, options)) logits.push(...part);
    return logits;
  }
}

/** What a sequence that has seen nothing else gives for these ids, at each position. */
export const fresh = (model: Model, ids: readonly number[]): Promise<number[]> => new ToySequence(model).append(ids);

/** Ids without the token that faults. */
export const idsOf = (length: number, seed = 1): number[] =>
  Array.from({ length }, (_, index) => (index * 7 + seed * 5 + (index % 3) * seed) % VOCAB).map((id) =>
    id === 13 ? 14 : id,
  );

/** Largest |difference|; Infinity for lists of different lengths or a NaN. */
export const distance = (a: readonly number[], b: readonly number[]): number => {
  if (a.length !== b.length) return Infinity;
  return a.reduce((largest, value, index) => {
    const difference = Math.abs(value - b[index]!);
    return Number.isNaN(difference) ? Infinity : Math.max(largest, difference);
  }, 0);
};

/** A checkpoint folder of the toy family, without a tokenizer. */
export const toyFolder = ({ mixers = BOTH, fault = 'none' }: ToyChoice = {}): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-toy-'));
  const config = { model_type: 'toy_lm', vocab_size: VOCAB, hidden_size: HIDDEN, layer_types: mixers, fault };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  const slots = planSlots(toyPlan({ mixers, fault }), TOY_PARTS);
  const tensors = slots.map((slot) => {
    const { bytes, dtype, shape } = toyWeight(slot);
    return [slot.name, { bytes, dtype, shape: [...shape] }] as const;
  });
  writeSafetensors(path.join(folder, 'model.safetensors'), Object.fromEntries(tensors));
  return folder;
};
