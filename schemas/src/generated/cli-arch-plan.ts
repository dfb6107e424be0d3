/** Generated from cli-arch-plan.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch plan MODEL --json`: the plan; with `--audit` the plan and what became of each key of config.json.
 */
export type CliArchPlan = ModelPlan | AuditedPlan;
/**
 * Angles of rotary positions. dims: rotated columns of a head. originalContext: what the model was first trained for.
 */
export type RopeTablePlan =
  RopeDefault | RopeLinear | RopeDynamic | RopeYarn | RopeLlama3 | RopeLong | RopeProportional;

/**
 * A model as data: everything that changes arithmetic, nothing to be derived again. The schema checks the frame; each part checks its own options.
 */
export interface ModelPlan {
  version: 1;
  family: string;
  modelType: string;
  vocabSize: number;
  hiddenSize: number;
  contextLength: number;
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
  theta: number;
  dims: number;
}
export interface RopeLinear {
  type: 'linear';
  theta: number;
  dims: number;
  factor: number;
}
export interface RopeDynamic {
  type: 'dynamic';
  theta: number;
  dims: number;
  factor: number;
  originalContext: number;
  alpha: number | null;
}
export interface RopeYarn {
  type: 'yarn';
  theta: number;
  dims: number;
  factor: number;
  originalContext: number;
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
  theta: number;
  dims: number;
  factor: number;
  originalContext: number;
  lowFreqFactor: number;
  highFreqFactor: number;
}
export interface RopeLong {
  type: 'longrope';
  theta: number;
  dims: number;
  originalContext: number;
  shortFactor: number[];
  longFactor: number[];
  /**
   * multiplies cos and sin up to originalContext
   */
  shortScale: number;
  longScale: number;
}
export interface RopeProportional {
  type: 'proportional';
  theta: number;
  dims: number;
  /**
   * columns that turn; the others have frequency 0, exponents run over dims
   */
  rotated: number;
  factor: number;
}
export interface AuditedPlan {
  object: 'kvad.arch-plan';
  plan: ModelPlan;
  audit: {
    file: string;
    read: string[];
    inert: {
      key: string;
      reason: string;
    }[];
    refused: {
      key: string;
      value: unknown;
    }[];
  };
  /**
   * what the user was warned of
   */
  warnings: string[];
}
