import { describe, expect, it } from 'vitest';
import {
  BUILTIN_PARTS,
  PartRegistry,
  type Activation,
  type Axis,
  type Norm,
  type Ops,
  type PartTypes,
  type PartWeights,
  type Tensor,
} from '@kvad/core';
import { expectClose, hostFloats, newOps, numbers } from '../kernels/numbers.js';

const dims = { hiddenSize: 6, vocabSize: 10 };
const parts = PartRegistry.of([BUILTIN_PARTS]);

/** Weights by slot name, as flat values. */
const weightsOf = (ops: Ops, values: Readonly<Record<string, Float32Array>>): PartWeights => {
  const value = (name: string): Float32Array => {
    const found = values[name];
    if (found === undefined) throw new Error(`no slot ${name} was asked for`);
    return found;
  };
  const unused = (name: string): never => {
    throw new Error(`${name} is not read as that`);
  };
  return {
    matrix: unused,
    stack: unused,
    integers: unused,
    vector: (name) => ops.constant(value(name)),
    values: value,
    under: unused,
  };
};

const create = <A extends Axis>(
  axis: A,
  kind: string,
  ops: Ops,
  options: object = {},
  weights: Readonly<Record<string, Float32Array>> = {},
): PartTypes[A] => parts.create(axis, { kind, options }, dims, weightsOf(ops, weights), ops);

const slots = (axis: Axis, kind: string, options: object = {}): unknown =>
  parts.slots(axis, { kind, options }, dims, '');

const { norms, activations, blocks, stacks } = BUILTIN_PARTS;
const NORM = { eps: 1e-6, offset: 0, weight: true, bias: false, size: 4 };
const ALL: readonly (readonly [Axis, string, object])[] = [
  ...norms.map(({ kind }) => ['norm', kind, NORM] as const),
  ...activations.map(({ kind }) => ['activation', kind, {}] as const),
  ...blocks.map(({ kind }) => ['block', kind, {}] as const),
  ...stacks.map(({ kind }) => ['stack', kind, {}] as const),
];

describe('the built-in parts', () => {
  it('are these kinds', () => {
    const kinds = (parts: readonly { kind: string }[]): string[] => parts.map(({ kind }) => kind);
    expect(kinds(norms)).toEqual(['rms', 'layernorm']);
    expect(kinds(activations).sort()).toEqual(
      [
        'silu',
        'gelu',
        'gelu_tanh',
        'quick_gelu',
        'relu',
        'relu2',
        'tanh',
        'sigmoid',
        'softplus',
        'identity',
        'xielu',
      ].sort(),
    );
    expect(kinds(blocks)).toEqual(['residual']);
    expect(kinds(stacks)).toEqual(['sequential']);
  });

  it.each(ALL)('%s %s refuses an option that it does not know', (axis, kind, options) => {
    expect(() => slots(axis, kind, options)).not.toThrow();
    expect(() => slots(axis, kind, { ...options, other: 1 })).toThrow(
      expect.objectContaining({ code: 'KVAD_E_PLAN_OPTIONS' }),
    );
  });

  it('say in a line what they do', () => {
    for (const { about } of [...norms, ...activations, ...blocks, ...stacks]) expect(about.length).toBeGreaterThan(0);
  });
});

describe('norms', () => {
  const options = { eps: 1e-3, offset: 1, weight: true, bias: false, size: 3 } as const;

  it('rms has a weight of its size, if it has one', () => {
    expect(slots('norm', 'rms', options)).toEqual([{ name: 'weight', shape: [3], role: 'exact' }]);
    expect(slots('norm', 'rms', { ...options, weight: false })).toEqual([]);
    expect(() => slots('norm', 'rms', { ...options, bias: true })).toThrow('bias');
  });

  it('layernorm has a weight and a bias, each if it has one', () => {
    expect(slots('norm', 'layernorm', { ...options, bias: true })).toEqual([
      { name: 'weight', shape: [3], role: 'exact' },
      { name: 'bias', shape: [3], role: 'exact' },
    ]);
    expect(slots('norm', 'layernorm', { ...options, weight: false, bias: true })).toEqual([
      { name: 'bias', shape: [3], role: 'exact' },
    ]);
  });

  it('norm each group of their size, in place', () => {
    const ops = newOps();
    const weight = numbers(1, 3);
    const bias = numbers(2, 3);
    const check = (norm: Norm, direct: (x: Tensor, out: Tensor) => void): void => {
      const x = ops.upload(numbers(3, 12), 2, 6);
      const out = ops.tensor(2, 6);
      direct(x, out);
      norm.forward(x, x);
      expect(ops.host(x)).toEqual(ops.host(out));
    };
    const plan = { size: 3, eps: 1e-3, offset: 1 as const, weight: ops.constant(weight) };
    check(create('norm', 'rms', ops, options, { weight }), (x, out) => {
      ops.rmsNorm(x, out, plan);
    });
    check(create('norm', 'layernorm', ops, { ...options, bias: true }, { weight, bias }), (x, out) => {
      ops.layerNorm(x, out, { ...plan, bias: ops.constant(bias) });
    });
    check(create('norm', 'layernorm', ops, { ...options, weight: false }), (x, out) => {
      ops.layerNorm(x, out, { ...plan, weight: null, bias: null });
    });
  });
});

describe('activations', () => {
  const x = numbers(4, 12).map((value) => 3 * value);
  const gated = (ops: Ops, activation: Activation): Float32Array => {
    const out = ops.tensor(2, 6);
    activation.gated(ops.upload(x, 2, 6), ops.upload(numbers(5, 12), 2, 6), out);
    return hostFloats(ops, out);
  };

  it.each(activations.filter(({ kind }) => kind !== 'xielu').map(({ kind }) => kind))(
    '%s is the op of its name',
    (kind) => {
      const ops = newOps();
      const activation: Activation = create('activation', kind, ops);
      const out = ops.tensor(2, 6);
      const expected = ops.tensor(2, 6);
      ops.activate(ops.upload(x, 2, 6), expected, kind as Parameters<Ops['activate']>[2]);
      activation.forward(ops.upload(x, 2, 6), out);
      expect(ops.host(out)).toEqual(ops.host(expected));
      ops.multiply(expected, ops.upload(numbers(5, 12), 2, 6), expected);
      expectClose(gated(ops, activation), hostFloats(ops, expected), 1e-6);
      expect(slots('activation', kind)).toEqual([]);
    },
  );

  it('xielu makes its factors from the four stored scalars', () => {
    const ops = newOps();
    const weights = {
      alpha_p: Float32Array.of(0.3),
      alpha_n: Float32Array.of(-0.2),
      beta: Float32Array.of(0.5),
      eps: Float32Array.of(-1e-6),
    };
    const activation: Activation = create('activation', 'xielu', ops, {}, weights);
    const out = ops.tensor(2, 6);
    activation.forward(ops.upload(x, 2, 6), out);
    const alphaP = Math.log1p(Math.exp(weights.alpha_p[0]!));
    const alphaN = 0.5 + Math.log1p(Math.exp(weights.alpha_n[0]!));
    const expected = Array.from(x, (v) =>
      v > 0 ? alphaP * v * v + 0.5 * v : alphaN * (Math.expm1(Math.min(v, Math.fround(-1e-6))) - v) + 0.5 * v,
    );
    expectClose(hostFloats(ops, out), expected, 2e-6);
    expectClose(
      gated(ops, activation),
      expected.map((value, i) => value * numbers(5, 12)[i]!),
      2e-6,
    );
    expect(slots('activation', 'xielu')).toEqual([
      { name: 'alpha_p', shape: [1], role: 'exact' },
      { name: 'alpha_n', shape: [1], role: 'exact' },
      { name: 'beta', shape: [], role: 'exact' },
      { name: 'eps', shape: [], role: 'exact' },
    ]);
  });
});

describe('the sequential stack', () => {
  it('passes its one stream through', () => {
    const ops = newOps();
    const stack = create('stack', 'sequential', ops);
    const x = ops.tensor(2, 6);
    expect(stack.width).toBe(6);
    expect(stack.enter(x, {} as never)).toBe(x);
    expect(stack.leave(x, {} as never)).toBe(x);
  });
});
