import type { JSONSchema, NormPlan, PartPlan } from '@kvad/schemas';
import type { Ops } from '../kernels/ops.js';
import type { Matrix, MatrixStack, Tensor, Vector } from '../kernels/tensor.js';
import type { LayerContext } from './context.js';
import type { StateSpec } from './state.js';

/** What a layer does to look at the past. x and out `[rows, hidden]`. */
export interface AttentionMixer {
  readonly state: readonly StateSpec[];
  forward(x: Tensor, out: Tensor, ctx: LayerContext): void;
}

/** What a layer does afterwards. x and out `[rows, hidden]`. */
export interface FeedForward {
  readonly state: readonly StateSpec[];
  forward(x: Tensor, out: Tensor, ctx: LayerContext): void;
}

/** Which experts a row goes to: fills ids i32 `[rows, k]` and weights f32 `[rows, k]`; id -1 is no expert. */
export interface Router {
  readonly k: number;
  forward(x: Tensor, ids: Tensor, weights: Tensor, ctx: LayerContext): void;
}

/** Experts that every row goes to; adds to `out` what they give. */
export interface SharedExpert {
  forward(x: Tensor, out: Tensor, ctx: LayerContext): void;
}

/** x -> out, same shape, out may be x. */
export interface Norm {
  forward(x: Tensor, out: Tensor): void;
}

export interface Activation {
  /** out = f(x), out may be x. */
  forward(x: Tensor, out: Tensor): void;
  /** out = f(gate) * x, out may be either. */
  gated(gate: Tensor, x: Tensor, out: Tensor): void;
}

/** A mixer or an FFN with its norms, as a block runs it. */
export interface BlockOp {
  readonly name: string;
  readonly body: AttentionMixer | FeedForward;
  readonly before: Norm | null;
  readonly after: Norm | null;
  readonly sum: Norm | null;
  readonly residual: {
    readonly scale: number;
    readonly keep: number;
    readonly from: 'input' | 'previous' | 'normed' | 'none';
  };
  /** The context of this op: its own states, and the residual given. */
  context(residual: Tensor): LayerContext;
}

/** How the ops of a layer are wired to the residual stream(s); changes `x` in place. */
export interface Block {
  forward(x: Tensor, ops: readonly BlockOp[]): void;
}

/** How the embedding becomes the residual stream(s), and they one again. */
export interface Stack {
  /** Columns of the residual tensor: hidden size times the number of streams. */
  readonly width: number;
  enter(embedding: Tensor, ctx: ForwardContext): Tensor;
  /** Called before each visit of the schedule; may exchange streams. */
  before(visit: number, x: Tensor, ctx: ForwardContext): void;
  leave(x: Tensor, ctx: ForwardContext): Tensor;
}

/** A side input, computed once a forward. */
export interface SideInput {
  forward(embedding: Tensor, ctx: ForwardContext): Tensor;
}

/** The context outside of layers. */
export type ForwardContext = Pick<LayerContext, 'batch' | 'shared' | 'input' | 'rope'>;

/** Sizes that a part's weights may depend on and that its options do not repeat. */
export interface Dims {
  readonly hiddenSize: number;
  readonly vocabSize: number;
}

/** A weight that a part needs. */
export interface WeightSlot {
  /** Within the part: `q.weight`. */
  readonly name: string;
  readonly shape: readonly number[];
  /**
   * `matrix`: rank 2, may be quantised. `stack`: rank 3, experts, may be quantised. `exact`: stays f32 whatever
   * the quantisation (norms, biases, routers, conv); rank 2 is read as matrix(), any rank as vector().
   * `integers`: an integer table.
   */
  readonly role: 'matrix' | 'stack' | 'exact' | 'integers';
  /** `stack` only: how many of its experts one token uses (to count active parameters); absent: all. */
  readonly active?: number;
}

/** The weights of a part, by the names of its slots. */
export interface PartWeights {
  matrix(name: string): Matrix;
  stack(name: string): MatrixStack;
  vector(name: string): Vector;
  integers(name: string): Int32Array;
  /** The values of an `exact` slot on the host, for scalars that become options of an op. */
  values(name: string): Float32Array;
  /** The weights of a nested part, whose slots were declared under this prefix. */
  under(prefix: string): PartWeights;
}

/** Axes and the interface of what a part of each creates. */
export interface PartTypes {
  mixer: AttentionMixer;
  ffn: FeedForward;
  router: Router;
  'shared-expert': SharedExpert;
  block: Block;
  stack: Stack;
  input: SideInput;
  norm: Norm;
  activation: Activation;
}
export type Axis = keyof PartTypes;

/** Nested parts by kind, from whichever plugin brings them. */
export interface Parts {
  /** The slots of a nested part, their names under `prefix` (`router.`). */
  slots(axis: Axis, part: PartPlan, dims: Dims, prefix: string): readonly WeightSlot[];
  create<A extends Axis>(axis: A, part: PartPlan, dims: Dims, weights: PartWeights, ops: Ops): PartTypes[A];
  /** Norms by their plan: shorthand for axis `norm`. `size` is the length of the rows that it normalises. */
  normSlots(norm: NormPlan, size: number, prefix: string): readonly WeightSlot[];
  createNorm(norm: NormPlan, size: number, weights: PartWeights, ops: Ops): Norm;
}

/**
 * A kind of mixer, FFN, router, ... Options are plain JSON from the plan, checked against `options` before
 * anything else is called.
 */
export interface Part<T, O = never> {
  readonly kind: string;
  /** One line for `kvad arch show`. */
  readonly about: string;
  readonly options: JSONSchema;
  /** True if it computes on `ops.host` (slow on a GPU). */
  readonly needsHost?: boolean;
  /** Parts that its options name (an FFN's router), so that the plugins that bring them are imported. */
  nested?(options: O): readonly NamedPart[];
  slots(options: O, dims: Dims, parts: Parts): readonly WeightSlot[];
  create(options: O, context: PartContext): T;
}

export interface NamedPart {
  readonly axis: Axis;
  readonly part: PartPlan;
}

/** The options of a norm: what its plan says, its own `options` beside it, and the length of the rows it normalises. */
export interface NormPartOptions {
  readonly size: number;
  readonly eps: number;
  readonly offset: 0 | 1;
  readonly weight: boolean;
  readonly bias: boolean;
}

export interface PartContext {
  readonly dims: Dims;
  readonly weights: PartWeights;
  readonly ops: Ops;
  readonly parts: Parts;
}
