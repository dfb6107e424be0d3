/** The mixer of this plugin on made-up weights, without a model around it. */
import { BUILTIN_PARTS, createReferenceOps, PartRegistry, type Ops } from '@kvad/core';
import type { AttentionMixer, LayerContext, PartWeights, State, WeightData, WeightSlot } from '@kvad/core/plugin';
import { openPlugin, type OpenedPlugin } from '@kvad/core/testing';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';
import type { Row, Weights } from './longhand.js';

export const deltaNet: OpenedPlugin = await openPlugin(new URL('../../../plugins/delta-net', import.meta.url));

const parts = PartRegistry.of([BUILTIN_PARTS, deltaNet.plugin]);

/** The reference arithmetic, and each set of native kernels that this machine runs. */
export const ARITHMETICS: Readonly<Record<string, () => Ops>> = {
  reference: () => createReferenceOps({ kvCacheDtype: 'f32' }),
  ...Object.fromEntries(
    (loadAddon()?.available.split(',') ?? []).map((kernels) => [
      kernels,
      () => createNativeOps({ threads: 2, kernels, kvCacheDtype: 'f32', dequantise: false })!,
    ]),
  ),
};

/** Even numbers in [-1, 1). */
export const numbers = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 23 - 1;
  };
};

const dataOf = (values: Float32Array, shape: readonly number[]): WeightData => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer),
});

/** What one sequence brings to a forward: its states, and its next inputs. */
export interface Rows {
  readonly states: Readonly<Record<string, State>>;
  readonly xs: readonly Row[];
}

export class MixerUnderTest {
  readonly values: Weights;
  readonly mixer: AttentionMixer;

  constructor(
    readonly ops: Ops,
    options: Readonly<Record<string, unknown>>,
    private readonly hiddenSize: number,
    seed: number,
  ) {
    const part = { kind: 'gated-delta-net', options };
    const dims = { hiddenSize, vocabSize: 1 };
    const next = numbers(seed);
    const slots = parts.slots('mixer', part, dims, '');
    const made = new Map(slots.map((slot) => [slot.name, Float32Array.from({ length: count(slot) }, () => next())]));
    this.values = Object.fromEntries(made);
    this.mixer = parts.create('mixer', part, dims, weightsOf(slots, made, ops), ops);
  }

  /** Memory of a sequence at its start. */
  states(): Rows['states'] {
    return Object.fromEntries(this.mixer.state.map((spec) => [spec.name, this.ops.state(spec)]));
  }

  /** One forward of several sequences, whose states it moves on. */
  forward(batch: readonly Rows[]): number[][][] {
    const { ops, hiddenSize } = this;
    const rows = batch.flatMap(({ xs }) => xs);
    let start = 0;
    const segments = batch.map(({ xs }, sequence) => {
      const segment = { sequence, start, length: xs.length, position: 0 };
      start += xs.length;
      return segment;
    });
    const mark = ops.mark();
    const x = ops.upload(Float32Array.from(rows.flat()), rows.length, hiddenSize);
    const out = ops.tensor(rows.length, hiddenSize);
    const ctx = { batch: { segments }, state: (name: string) => batch.map(({ states }) => states[name]!) };
    this.mixer.forward(x, out, ctx as unknown as LayerContext);
    const values = [...ops.host(out)];
    ops.release(mark);
    return segments.map((segment) =>
      Array.from({ length: segment.length }, (_, row) => {
        const at = (segment.start + row) * hiddenSize;
        return values.slice(at, at + hiddenSize);
      }),
    );
  }
}

const count = ({ shape }: WeightSlot): number => shape.reduce((product, size) => product * size, 1);

const weightsOf = (
  slots: readonly WeightSlot[],
  made: ReadonlyMap<string, Float32Array>,
  ops: Ops,
  prefix = '',
): PartWeights => {
  const data = (name: string): WeightData => {
    const slot = slots.find((one) => one.name === prefix + name)!;
    return dataOf(made.get(slot.name)!, slot.shape);
  };
  return {
    matrix: (name) => ops.matrix(data(name), 'f32'),
    stack: (name) => ops.stack(data(name), 'f32'),
    vector: (name) => ops.vector(data(name)),
    integers: (name) => Int32Array.from(made.get(prefix + name)!),
    values: (name) => made.get(prefix + name)!,
    under: (more) => weightsOf(slots, made, ops, prefix + more),
  };
};
