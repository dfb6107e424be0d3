/** Generated from model-plan.schema.json by `npm run generate`: change that file. */

export type Size = number;
/**
 * Angles of rotary positions. dims: rotated columns of a head. originalContext: what the model was first trained for.
 */
export type RopeTablePlan =
  RopeDefault | RopeLinear | RopeDynamic | RopeYarn | RopeLlama3 | RopeLong | RopeProportional;
export type Positive = number;

/**
 * A model as data: everything that changes arithmetic, nothing to be derived again. The schema checks the frame; each part checks its own options.
 */
export interface ModelPlan {
  version: 1;
  family: string;
  modelType: string;
  vocabSize: Size;
  hiddenSize: Size;
  contextLength: Size;
  embedding: EmbeddingPlan;
  inputs: InputPlan[];
  stack: PartPlan;
  /**
   * @minItems 1
   */
  layers: LayerPlan[];
  /**
   * @minItems 1
   */
  schedule: VisitPlan[];
  finalNorm: NormPlan | null;
  head: HeadPlan;
  ropeTables: {
    [k: string]: RopeTablePlan;
  };
  residualDtype: 'f32';
}
/**
 * x = norm(project(scale * table[id])) + positions; order as published: the position is added before the norm.
 */
export interface EmbeddingPlan {
  /**
   * columns of the table; the hidden size unless project
   */
  size: number;
  scale: number;
  positions: NoPositions | LearnedPositions | SinusoidalPositions;
  norm: NormPlan | null;
  project: {
    bias: boolean;
  } | null;
}
export interface NoPositions {
  kind: 'none';
}
export interface LearnedPositions {
  kind: 'learned';
  /**
   * rows of the table, offset included
   */
  count: number;
  offset: number;
}
export interface SinusoidalPositions {
  kind: 'sinusoidal';
  offset: number;
  layout: 'halves' | 'interleaved';
}
/**
 * rms: x / sqrt(mean(x²) + eps) * (w + offset). layernorm: (x - mean) / sqrt(var + eps) * (w + offset) + b. Other kinds come from plugins and read their own options.
 */
export interface NormPlan {
  kind: string;
  eps: number;
  offset: 0 | 1;
  weight: boolean;
  bias: boolean;
  options?: {};
}
export interface InputPlan {
  name: string;
  kind: string;
  options: {};
}
export interface PartPlan {
  kind: string;
  options: {};
}
export interface LayerPlan {
  block: PartPlan;
  /**
   * @minItems 1
   */
  ops: OpPlan[];
}
/**
 * One mixer or FFN of a layer: x = sum(keep * x + scale * after(op(before(x)))), unless `from` says otherwise. A norm that is absent is the identity.
 */
export interface OpPlan {
  name: string;
  axis: 'mixer' | 'ffn';
  kind: string;
  options: {};
  norm: {
    before?: NormPlan;
    after?: NormPlan;
    sum?: NormPlan;
  };
  residual: ResidualPlan;
}
export interface ResidualPlan {
  scale: number;
  /**
   * what the residual itself is multiplied with
   */
  keep: number;
  /**
   * previous: the formula as it stands, x as the op before left it; input: the op reads the block's input instead (parallel ops); normed: what is kept is before(x); none: nothing is kept, the output takes its place
   */
  from: 'input' | 'previous' | 'normed' | 'none';
}
export interface VisitPlan {
  layer: number;
  state: number;
}
/**
 * logits = softcap(logitScale * (W before(h) + b))
 */
export interface HeadPlan {
  /**
   * what stands between the final norm and the head, in order
   */
  before: HeadStepPlan[];
  tied: boolean;
  bias: boolean;
  logitScale: number;
  softcap: number | null;
  dtype: 'f32';
}
export interface HeadStepPlan {
  axis: 'norm' | 'ffn' | 'activation' | 'linear';
  kind: string;
  options: {};
}
export interface RopeDefault {
  type: 'default';
  theta: Positive;
  dims: Size;
}
export interface RopeLinear {
  type: 'linear';
  theta: Positive;
  dims: Size;
  factor: Positive;
}
export interface RopeDynamic {
  type: 'dynamic';
  theta: Positive;
  dims: Size;
  factor: Positive;
  originalContext: Size;
  alpha: Positive | null;
}
export interface RopeYarn {
  type: 'yarn';
  theta: Positive;
  dims: Size;
  factor: Positive;
  originalContext: Size;
  betaFast: number;
  betaSlow: number;
  /**
   * multiplies cos and sin, resolved from mscale and mscale_all_dim
   */
  attentionFactor: number;
  truncate: boolean;
}
export interface RopeLlama3 {
  type: 'llama3';
  theta: Positive;
  dims: Size;
  factor: Positive;
  originalContext: Size;
  lowFreqFactor: number;
  highFreqFactor: number;
}
export interface RopeLong {
  type: 'longrope';
  theta: Positive;
  dims: Size;
  originalContext: Size;
  shortFactor: Positive[];
  longFactor: Positive[];
  /**
   * multiplies cos and sin up to originalContext
   */
  shortScale: number;
  longScale: number;
}
export interface RopeProportional {
  type: 'proportional';
  theta: Positive;
  dims: Size;
  /**
   * columns that turn; the others have frequency 0, exponents run over dims
   */
  rotated: number;
  factor: Positive;
}
