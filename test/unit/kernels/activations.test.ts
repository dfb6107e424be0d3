import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ActivationName } from '@kvad/core';
import { erfc } from '../../../core/dist/kernels/reference/erf.js';
import { expectClose, hostFloats, newOps, numbers, windowed } from './numbers.js';

interface Expected {
  readonly x: readonly number[];
  readonly functions: Readonly<Record<ActivationName, readonly number[]>>;
  readonly erfc: readonly number[];
  readonly xielu: Readonly<Record<'alpha_p' | 'alpha_n' | 'beta' | 'eps', number>> & { readonly values: number[] };
}
const expected = JSON.parse(
  readFileSync(new URL('../../fixtures/activations/expected.json', import.meta.url), 'utf8'),
) as Expected;
const NAMES = Object.keys(expected.functions) as ActivationName[];

const softplus = (x: number): number => Math.log1p(Math.exp(x));
const XIELU = {
  alphaP: softplus(expected.xielu.alpha_p),
  alphaN: expected.xielu.beta + softplus(expected.xielu.alpha_n),
  beta: expected.xielu.beta,
  eps: expected.xielu.eps,
};

/** Within two float32 steps of the published value, at float32 inputs. */
const expectPublished = (actual: ArrayLike<number>, values: readonly number[]): void => {
  values.forEach((value, i) => {
    const step = Math.max(Math.abs(value), Math.abs(expected.x[i]!) * 1e-1, 1e-6) * 2 ** -22;
    expectClose([actual[i]!], [value], step, `at ${expected.x[i]}`);
  });
};

describe('erfc', () => {
  it('agrees with the published values: to the last digits of 1 below 2, and relatively from there on', () => {
    expected.x.forEach((x, i) => {
      expect(Math.abs(erfc(x) - expected.erfc[i]!), `erfc(${x})`).toBeLessThanOrEqual(
        x < 2 ? 4e-16 : 1e-14 * expected.erfc[i]!,
      );
    });
  });

  it('has no step where its two formulas meet', () => {
    expect(Math.abs(erfc(2 - 1e-12) - erfc(2 + 1e-12))).toBeLessThan(1e-13);
  });

  it('keeps NaN and the ends', () => {
    expect([erfc(NaN), erfc(Infinity), erfc(-Infinity), erfc(0)]).toEqual([NaN, 0, 2, 1]);
  });
});

describe.each(NAMES)('%s', (name) => {
  it('is what torch computes', () => {
    const ops = newOps();
    const x = ops.upload(Float32Array.from(expected.x), 2, expected.x.length / 2);
    const out = windowed(ops, new Float32Array(expected.x.length), 2, expected.x.length / 2);
    ops.activate(x, out, name);
    expectPublished(hostFloats(ops, out), expected.functions[name]);
  });

  it('works in place, and passes NaN on', () => {
    const ops = newOps();
    const x = windowed(ops, Float32Array.of(-1, NaN, 0.5), 1, 3);
    const out = ops.tensor(1, 3);
    ops.activate(x, out, name);
    ops.activate(x, x, name);
    expect(ops.host(x)).toEqual(ops.host(out));
    expect(hostFloats(ops, x)[1]).toBeNaN();
  });

  it.each(['apart', 'on the gate', 'on x'])('gates x, writing %s', (place) => {
    const ops = newOps();
    const gate = windowed(ops, numbers(1, 15), 3, 5);
    const x = windowed(ops, numbers(2, 15), 3, 5);
    const activated = ops.tensor(3, 5);
    ops.activate(gate, activated, name);
    const products = hostFloats(ops, activated).map((value, i) => value * numbers(2, 15)[i]!);
    const out = { apart: ops.tensor(3, 5), 'on the gate': gate, 'on x': x }[place]!;
    ops.gated(gate, x, out, name);
    expectClose(hostFloats(ops, out), products, 1e-6);
  });
});

describe('at the ends of the range', () => {
  it.each([
    ['silu', [-0, 1000]],
    ['gelu', [-0, 1000]],
    ['gelu_tanh', [-0, 1000]],
    ['softplus', [0, 1000]],
    ['sigmoid', [0, 1]],
  ] as const)('%s of -1000 and 1000', (name, ends) => {
    const ops = newOps();
    const x = ops.upload(Float32Array.of(-1000, 1000), 1, 2);
    ops.activate(x, x, name);
    expectClose(
      hostFloats(ops, x),
      ends.map((value) => value + 0),
      0,
    );
  });
});

describe('xielu', () => {
  it('is what transformers computes from the stored scalars', () => {
    const ops = newOps();
    const x = ops.upload(Float32Array.from(expected.x), 1, expected.x.length);
    ops.xielu(x, x, XIELU);
    expectPublished(hostFloats(ops, x), expected.xielu.values);
  });
});

describe('shapes', () => {
  it('that differ are refused, and so are overlaps', () => {
    const ops = newOps();
    const x = ops.tensor(2, 6);
    expect(() => ops.activate(x, ops.tensor(2, 5), 'silu')).toThrow('x [2, 6], out [2, 5]');
    expect(() => ops.gated(x, ops.tensor(1, 6), ops.tensor(2, 6), 'silu')).toThrow('x [1, 6], out [2, 6]');
    expect(() => ops.activate(ops.columns(x, 0, 4), ops.columns(x, 2, 4), 'silu')).toThrow('overlaps');
    expect(() => ops.activate(ops.columns(x, 0, 3), ops.columns(x, 3, 3), 'silu')).not.toThrow();
  });
});
