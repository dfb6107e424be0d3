import type { ActivationName } from '../../kernels/ops.js';
import { definePart } from '../../plan/plugin.js';
import type { Activation, Part, PartContext, PartWeights, WeightSlot } from '../parts.js';
import { NO_OPTIONS, type NoOptions } from './no-options.js';

const FUNCTIONS: Readonly<Record<ActivationName, string>> = {
  silu: 'x σ(x)',
  gelu: 'x Φ(x), by the error function',
  gelu_tanh: 'x Φ(x), approximated by tanh',
  quick_gelu: 'x σ(1.702 x)',
  relu: 'max(x, 0)',
  relu2: 'max(x, 0)²',
  tanh: 'tanh(x)',
  sigmoid: '1 / (1 + e^-x)',
  softplus: 'ln(1 + e^x)',
  identity: 'x',
};

const withoutWeights = (name: ActivationName): Part<Activation, NoOptions> =>
  definePart({
    kind: name,
    about: FUNCTIONS[name],
    options: NO_OPTIONS,
    slots: () => [],
    create: (_options: NoOptions, { ops }: PartContext): Activation => ({
      forward: (x, out) => {
        ops.activate(x, out, name);
      },
      gated: (gate, x, out) => {
        ops.gated(gate, x, out, name);
      },
    }),
  });

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

const scalar = (weights: PartWeights, name: string): number => {
  const [value] = weights.values(name);
  if (value === undefined) throw new Error(`xielu: the weight ${name} is empty`);
  return value;
};

/**
 * xIELU, an activation with two learned scalars a layer.
 *    x > 0:  αp x² + β x
 *    x ≤ 0:  αn (e^min(x, ε) - 1 - x) + β x
 *    αp = softplus(alpha_p),  αn = β + softplus(alpha_n)
 *  alpha_p and alpha_n [1], beta and eps scalars, all four stored.  Source: arXiv:2411.13010.
 */
const xielu: Part<Activation, NoOptions> = definePart({
  kind: 'xielu',
  about: 'quadratic above 0, exponential below, with two learned scalars',
  options: NO_OPTIONS,
  slots: (): WeightSlot[] => [
    { name: 'alpha_p', shape: [1], role: 'exact' },
    { name: 'alpha_n', shape: [1], role: 'exact' },
    { name: 'beta', shape: [], role: 'exact' },
    { name: 'eps', shape: [], role: 'exact' },
  ],
  create(_options: NoOptions, { ops, weights }: PartContext): Activation {
    const beta = scalar(weights, 'beta');
    const options = {
      alphaP: softplus(scalar(weights, 'alpha_p')),
      alphaN: beta + softplus(scalar(weights, 'alpha_n')),
      beta,
      eps: scalar(weights, 'eps'),
    };
    return {
      forward: (x, out) => {
        ops.xielu(x, out, options);
      },
      gated(gate, x, out) {
        const mark = ops.mark();
        const activated = ops.tensor(gate.rows, gate.cols);
        ops.xielu(gate, activated, options);
        ops.multiply(activated, x, out);
        ops.release(mark);
      },
    };
  },
});

export const ACTIVATION_PARTS = [...(Object.keys(FUNCTIONS) as ActivationName[]).map(withoutWeights), xielu] as const;
