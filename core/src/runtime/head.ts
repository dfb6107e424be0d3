import type { HeadPlan, HeadStepPlan, ModelPlan } from '@kvad/schemas';
import type { LayerContext } from '../axes/context.js';
import type { Dims, Parts } from '../axes/parts.js';
import type { Ops } from '../kernels/ops.js';
import type { Matrix, Tensor, Vector } from '../kernels/tensor.js';
import { headStepPart, headStepWidth, linearOptions } from '../plan/slots.js';
import { blame } from './part-registry.js';
import type { WeightHandles } from './weight-handles.js';

type HeadStep = (x: Tensor) => Tensor;

/** logits = softcap(logitScale * (W before(h) + b)), `[rows, vocab]`. */
export class Head {
  readonly #plan: HeadPlan;
  readonly #vocabSize: number;
  readonly #ops: Ops;
  readonly #before: readonly HeadStep[];
  readonly #weight: Matrix;
  readonly #bias: Vector | null;

  constructor(plan: ModelPlan, weights: WeightHandles, parts: Parts, ops: Ops) {
    this.#plan = plan.head;
    this.#vocabSize = plan.vocabSize;
    this.#ops = ops;
    let width = plan.hiddenSize;
    this.#before = plan.head.before.map((step, index) => {
      const build = stepBuilder(step, width, plan.vocabSize, parts, ops);
      width = headStepWidth(step, width);
      return build(weights, `head.before.${index}.`);
    });
    this.#weight = weights.matrix('head.weight');
    this.#bias = plan.head.bias ? weights.vector('head.bias') : null;
  }

  /** `hidden` is left as it is. */
  forward(hidden: Tensor): Tensor {
    const { logitScale, softcap } = this.#plan;
    const x = this.#before.reduce((value, step) => step(value), hidden);
    const logits = this.#ops.tensor(x.rows, this.#vocabSize);
    this.#ops.linear(x, this.#weight, logits, { bias: this.#bias });
    if (logitScale !== 1) this.#ops.scale(logits, logits, logitScale);
    if (softcap !== null) this.#ops.softcap(logits, logits, softcap);
    return logits;
  }
}

type StepBuilder = (weights: WeightHandles, prefix: string) => HeadStep;

const stepBuilder = (step: HeadStepPlan, width: number, vocabSize: number, parts: Parts, ops: Ops): StepBuilder => {
  const dims: Dims = { hiddenSize: width, vocabSize };
  const part = headStepPart(step, width);
  const into = (cols: number, run: (x: Tensor, out: Tensor) => void): HeadStep => {
    return (x) => {
      const out = ops.tensor(x.rows, cols);
      blameStep(step, () => {
        run(x, out);
      });
      return out;
    };
  };
  return (weights, prefix) => {
    switch (step.axis) {
      case 'linear': {
        const { size, bias: biased } = linearOptions(step);
        const weight = weights.matrix(`${prefix}weight`);
        const bias = biased ? weights.vector(`${prefix}bias`) : null;
        return into(size, (x, out) => {
          ops.linear(x, weight, out, { bias });
        });
      }
      case 'norm': {
        const norm = parts.create('norm', part, dims, weights.under(prefix), ops);
        return into(width, (x, out) => {
          norm.forward(x, out);
        });
      }
      case 'activation': {
        const activation = parts.create('activation', part, dims, weights.under(prefix), ops);
        return into(width, (x, out) => {
          activation.forward(x, out);
        });
      }
      case 'ffn': {
        const ffn = parts.create('ffn', part, dims, weights.under(prefix), ops);
        return into(width, (x, out) => {
          ffn.forward(x, out, NO_CONTEXT);
        });
      }
    }
  };
};

const blameStep = (step: HeadStepPlan, act: () => void): void => {
  if (step.axis === 'linear') act();
  else blame(step.axis, step.kind, act);
};

/** Before the head rows stand alone: those whose logits nobody wants are gone, and there is no layer. */
const NO_CONTEXT = new Proxy({} as LayerContext, {
  get(_, property) {
    throw new Error(`an ffn before the head has no context.${String(property)}`);
  },
});
