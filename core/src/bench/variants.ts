import type { ModelPlan } from '@kvad/schemas';
import type { BoundWeights } from '../checkpoint/checkpoint.js';
import type { PlannedSlot } from '../plan/planned-slot.js';

export type BenchPrecision = 'f32' | 'bf16' | 'q8' | 'q4';

/** How one arm of a benchmark holds its weights. */
export interface Variant {
  /** `q8`, or `q8-dequant`: the control arm, whose activations stay f32. */
  readonly name: string;
  readonly precision: BenchPrecision;
  readonly dequantise: boolean;
}

/**
 * One arm for each precision, and with `control` one more for each quantised one. `dequantise` (`KVAD_DEQUANT=1`): of the
 * quantised ones the control arms alone, where `control` does not ask for both.
 */
export const variantsOf = (precisions: readonly BenchPrecision[], control: boolean, dequantise = false): Variant[] =>
  precisions.flatMap((precision) => {
    const plain: Variant = { name: precision, precision, dequantise: false };
    if (precision !== 'q8' && precision !== 'q4') return [plain];
    const arm: Variant = { ...plain, name: `${precision}-dequant`, dequantise: true };
    if (control) return [plain, arm];
    return [dequantise ? arm : plain];
  });

export interface WeightTraffic {
  /** Bytes of all weights as held. */
  readonly held: number;
  /** Bytes that one decoded token reads: of a table one row counts as nothing, of experts those that are active. */
  readonly perToken: number;
}

/** Looked up or scored token by token: 8 bits in a q4 model. */
const EMBEDDING = 'embedding.tokens.weight';
const HEAD = 'head.weight';

export const weightTraffic = (
  plan: ModelPlan,
  slots: readonly PlannedSlot[],
  weights: Pick<BoundWeights, 'sourceOf'>,
  precision: BenchPrecision,
): WeightTraffic => {
  const visits = (layer: number | null): number =>
    layer === null ? 1 : plan.schedule.filter((visit) => visit.layer === layer).length;
  let held = 0;
  let perToken = 0;
  const counted = new Set<string>();
  // The head first: where it is the embedding too, it is read whole.
  for (const slot of [...slots].sort((a, b) => Number(b.name === HEAD) - Number(a.name === HEAD))) {
    const source = weights.sourceOf(slot.name);
    const bytes = bytesOf(slot, precision);
    if (!counted.has(source)) held += bytes;
    if (!counted.has(source) && slot.name !== EMBEDDING) perToken += bytes * activeShare(slot) * visits(slot.layer);
    counted.add(source);
  }
  return { held, perToken };
};

const activeShare = ({ shape: [experts = 1], active }: PlannedSlot): number =>
  active === undefined ? 1 : Math.min(active, experts) / experts;

/** q8 and q4: blocks of 32 columns with an f16 scale each, the last one padded. */
const bytesOf = ({ name, shape, role }: PlannedSlot, precision: BenchPrecision): number => {
  const elements = shape.reduce((product, size) => product * size, 1);
  if (role !== 'matrix' && role !== 'stack') return 4 * elements;
  if (precision === 'f32') return 4 * elements;
  if (precision === 'bf16') return 2 * elements;
  const columns = shape.at(-1) ?? 1;
  const blocks = (elements / columns) * Math.ceil(columns / 32);
  return blocks * (precision === 'q8' || name === EMBEDDING || name === HEAD ? 34 : 18);
};
