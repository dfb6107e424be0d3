import type { LayerPlan, OpPlan } from '@kvad/schemas';
import type { LayerContext } from '../axes/context.js';
import type { AttentionMixer, Block, BlockOp, Dims, FeedForward, Norm, Parts } from '../axes/parts.js';
import type { Ops } from '../kernels/ops.js';
import type { State, Tensor } from '../kernels/tensor.js';
import { blame } from './part-registry.js';
import type { Pass } from './pass.js';
import type { StateSlot } from './sequence-states.js';
import type { WeightHandles } from './weight-handles.js';

interface LayerOp {
  readonly plan: OpPlan;
  readonly body: AttentionMixer | FeedForward;
  readonly before: Norm | null;
  readonly after: Norm | null;
  readonly sum: Norm | null;
}

/** A layer of the plan with its weights; a visit of the schedule runs it. */
export class Layer {
  readonly #index: number;
  readonly #block: Block;
  readonly #blockKind: string;
  readonly #ops: readonly LayerOp[];

  constructor(plan: LayerPlan, index: number, dims: Dims, weights: WeightHandles, parts: Parts, ops: Ops) {
    const prefix = `layers.${index}.`;
    this.#index = index;
    this.#blockKind = plan.block.kind;
    this.#block = parts.create('block', plan.block, dims, weights.under(`${prefix}block.`), ops);
    this.#ops = plan.ops.map((op) => {
      const norm = (place: 'before' | 'after' | 'sum'): Norm | null => {
        const normPlan = op.norm[place];
        if (!normPlan) return null;
        return parts.createNorm(normPlan, dims.hiddenSize, weights.under(`${prefix}${op.name}.norm.${place}.`), ops);
      };
      const body = parts.create(op.axis, op, dims, weights.under(`${prefix}${op.name}.`), ops);
      return { plan: op, body, before: norm('before'), after: norm('after'), sum: norm('sum') };
    });
  }

  /** The memory that a sequence needs at that visit. */
  stateSlots(visit: number): StateSlot[] {
    return this.#ops.flatMap(({ body }, op) => body.state.map((spec) => ({ visit, op, spec })));
  }

  /** Changes the residual `x` in place. */
  forward(visit: number, x: Tensor, pass: Pass): void {
    const ops = this.#ops.map((op, index) => this.#blockOp(op, index, visit, pass));
    pass.scratch(() => {
      blame('block', this.#blockKind, () => {
        this.#block.forward(x, ops);
      });
    });
  }

  #blockOp(op: LayerOp, index: number, visit: number, pass: Pass): BlockOp {
    const { body, plan } = op;
    return {
      name: plan.name,
      residual: plan.residual,
      before: op.before,
      after: op.after,
      sum: op.sum,
      body: {
        state: body.state,
        forward: (x, out, context) => {
          pass.scratch(() => {
            blame(plan.axis, plan.kind, () => {
              body.forward(x, out, context);
            });
          });
        },
      },
      context: (residual) => this.#context(index, visit, residual, pass),
    };
  }

  #context(op: number, visit: number, residual: Tensor, pass: Pass): LayerContext {
    return {
      batch: pass.batch,
      shared: pass.shared,
      layer: this.#index,
      visit,
      residual,
      rope: (id) => pass.rope(id),
      input: (name) => pass.input(name),
      state: (name) =>
        pass.states.map((states): State => {
          const state = states.find(visit, op, name);
          if (!state) throw new Error(`the state "${name}" was not declared`);
          return state;
        }),
    };
  }
}
