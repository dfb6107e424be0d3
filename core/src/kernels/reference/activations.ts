import type { ActivationName, Ops } from '../ops.js';
import { erfc } from './erf.js';
import { floats, requireInPlaceOrApart, requireSameShape } from './host-tensor.js';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Scalar functions, in float64. Sources: arXiv:1606.08415 (gelu), arXiv:1710.05941 (silu), arXiv:2109.08668 (relu2). */
export const ACTIVATIONS: Readonly<Record<ActivationName, (x: number) => number>> = {
  /** x σ(x) */
  silu: (x) => x * sigmoid(x),
  /** x Φ(x) = x/2 (1 + erf(x/√2)) */
  gelu: (x) => 0.5 * x * erfc(-x * Math.SQRT1_2),
  /** x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))) */
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  /** x σ(1.702 x) */
  quick_gelu: (x) => x * sigmoid(1.702 * x),
  /** max(x, 0) */
  relu: (x) => Math.max(x, 0),
  /** max(x, 0)² */
  relu2: (x) => Math.max(x, 0) ** 2,
  tanh: Math.tanh,
  /** 1 / (1 + e^-x) */
  sigmoid,
  /** ln(1 + eˣ), without overflow */
  softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  identity: (x) => x,
};

export const activationOps: Pick<Ops, 'activate' | 'gated' | 'xielu'> = {
  activate(xHandle, outHandle, name) {
    const x = floats('activate', 'x', xHandle);
    const out = floats('activate', 'out', outHandle);
    requireSameShape('activate', x, out);
    requireInPlaceOrApart('activate', x, out);
    const f = ACTIVATIONS[name];
    for (let r = 0; r < x.rows; r++) {
      const from = x.offset + r * x.stride;
      const to = out.offset + r * out.stride;
      for (let c = 0; c < x.cols; c++) out.f32[to + c] = f(x.f32[from + c]!);
    }
  },

  gated(gateHandle, xHandle, outHandle, name) {
    const gate = floats('gated', 'gate', gateHandle);
    const x = floats('gated', 'x', xHandle);
    const out = floats('gated', 'out', outHandle);
    requireSameShape('gated', gate, out);
    requireSameShape('gated', x, out);
    requireInPlaceOrApart('gated', gate, out);
    requireInPlaceOrApart('gated', x, out);
    const f = ACTIVATIONS[name];
    for (let r = 0; r < x.rows; r++) {
      const gateFrom = gate.offset + r * gate.stride;
      const from = x.offset + r * x.stride;
      const to = out.offset + r * out.stride;
      for (let c = 0; c < x.cols; c++) out.f32[to + c] = f(gate.f32[gateFrom + c]!) * x.f32[from + c]!;
    }
  },

  /**
   * x > 0:  αp x² + β x
   * x ≤ 0:  αn (e^min(x, ε) - 1 - x) + β x
   * αp and αn are the effective values: softplus and + β were applied to what is stored. Source: arXiv:2411.13010.
   */
  xielu(xHandle, outHandle, { alphaP, alphaN, beta, eps }) {
    const x = floats('xielu', 'x', xHandle);
    const out = floats('xielu', 'out', outHandle);
    requireSameShape('xielu', x, out);
    requireInPlaceOrApart('xielu', x, out);
    for (let r = 0; r < x.rows; r++) {
      const from = x.offset + r * x.stride;
      const to = out.offset + r * out.stride;
      for (let c = 0; c < x.cols; c++) {
        const value = x.f32[from + c]!;
        const curve = value > 0 ? alphaP * value * value : alphaN * (Math.expm1(Math.min(value, eps)) - value);
        out.f32[to + c] = curve + beta * value;
      }
    }
  },
};
