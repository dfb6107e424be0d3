import {
  createReferenceOps,
  type BoundWeights,
  type Ops,
  type PlannedSlot,
  type Precision,
  type WeightData,
} from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { WeightHandles } from '../../../core/dist/runtime/weight-handles.js';

const slot = (name: string, role: PlannedSlot['role'], shape: number[]): PlannedSlot => ({
  name,
  role,
  shape,
  pattern: name,
  layer: null,
});

const SLOTS = [
  slot('embedding.tokens.weight', 'matrix', [2, 33]),
  slot('head.weight', 'matrix', [2, 33]),
  slot('a.matrix', 'matrix', [2, 33]),
  slot('a.exact', 'exact', [2, 33]),
  slot('a.bias', 'exact', [3]),
  slot('a.table', 'integers', [2]),
  slot('a.wide', 'integers', [2]),
  slot('a.experts', 'stack', [2, 2, 2]),
];

const bytesOf = (values: ArrayBufferView): Uint8Array => new Uint8Array(values.buffer);

const DATA: Record<string, WeightData> = {
  'a.bias': { dtype: 'F32', shape: [3], bytes: bytesOf(Float32Array.of(1, 2, 3)) },
  'a.table': { dtype: 'I64', shape: [2], bytes: bytesOf(BigInt64Array.of(7n, -2n)) },
  'a.wide': { dtype: 'I64', shape: [2], bytes: bytesOf(BigInt64Array.of(7n, 2n ** 40n)) },
};

/** Reads are written down; `embedding` and `head` have one source. */
const handles = (quant: Precision | null) => {
  const reads: string[] = [];
  const asked: string[] = [];
  const weights: BoundWeights = {
    has: () => true,
    sourceOf: (name) => (name === 'head.weight' ? 'embedding.tokens.weight' : name),
    read: (name) => {
      reads.push(name);
      return DATA[name] ?? { dtype: 'BF16', shape: [2, 33], bytes: new Uint8Array(2 * 33 * 2) };
    },
  };
  const reference = createReferenceOps({ kvCacheDtype: 'f32' });
  const ops: Ops = {
    ...reference,
    matrix: (data, precision) => {
      asked.push(String(precision));
      const held = precision === 'q8' || precision === 'q4' ? 'f32' : precision;
      return { ...reference.matrix(data, held), precision: precision ?? 'bf16' };
    },
  };
  return { made: new WeightHandles(SLOTS, weights, ops, quant), reads, asked };
};

describe('handles of weights', () => {
  it('are one for two slots of one tensor, read once', () => {
    const { made, reads } = handles(null);
    expect(made.matrix('head.weight')).toBe(made.matrix('embedding.tokens.weight'));
    expect(made.under('a.').vector('bias')).toBe(made.vector('a.bias'));
    expect(reads).toEqual(['head.weight', 'a.bias']);
  });

  it.each<[Precision | null, string[]]>([
    [null, ['null', 'f32', 'null']],
    ['f32', ['f32', 'f32', 'f32']],
    ['q8', ['q8', 'f32', 'q8']],
    ['q4', ['q4', 'f32', 'q8']],
  ])('at %s: matrices so, exact ones in f32, those of tokens in 8 bits at least', (quant, precisions) => {
    const { made, asked } = handles(quant);
    made.matrix('a.matrix');
    made.matrix('a.exact');
    made.matrix('embedding.tokens.weight');
    expect(asked).toEqual(precisions);
  });

  it('count their bytes: blocks of 32 columns, the last one padded', () => {
    const { made } = handles('q4');
    made.matrix('a.matrix');
    made.matrix('head.weight');
    made.vector('a.bias');
    expect(made.bytes).toBe(2 * 2 * 18 + 2 * 2 * 34 + 3 * 4);
  });

  it('give values and integers on the host', () => {
    const weights = handles(null).made.under('a.');
    expect([...weights.values('bias')]).toEqual([1, 2, 3]);
    expect([...weights.integers('table')]).toEqual([7, -2]);
    expect(() => weights.integers('wide')).toThrow('1099511627776 in a.wide does not fit 32 bits');
  });

  it('are refused where a part did not declare them, or declared another role', () => {
    const weights = handles(null).made.under('a.');
    expect(() => weights.matrix('other')).toThrow('the weight a.other was not declared as a slot');
    expect(() => weights.vector('matrix')).toThrow('the weight a.matrix was declared as matrix, and is read as exact');
    expect(() => weights.matrix('experts')).toThrow('declared as stack, and is read as matrix or exact');
  });
});
