import type { HeadStepPlan, LayerPlan, ModelPlan, OpPlan } from '@kvad/schemas';
import type { Dims, Parts, WeightSlot } from '../axes/parts.js';
import { KvadError } from '../errors/kvad-error.js';
import type { PlannedSlot } from './planned-slot.js';

/**
 * Every weight of a plan by its full name, as `weight-rules.ts` documents the names, in the order of the forward pass.
 * `head.weight` is among them for tied models too: whether the embedding stands in for it is decided when weights are
 * bound. Throws what the parts say of their options, and KVAD_E_PLAN_SLOT where two weights get one name.
 */
export const planSlots = (plan: ModelPlan, parts: Parts): PlannedSlot[] => {
  const dims: Dims = { hiddenSize: plan.hiddenSize, vocabSize: plan.vocabSize };
  const slots = [
    ...embeddingSlots(plan, parts).map(whole),
    ...plan.inputs.flatMap((input) => parts.slots('input', input, dims, `inputs.${input.name}.`)).map(whole),
    ...parts.slots('stack', plan.stack, dims, 'stack.').map(whole),
    ...plan.layers.flatMap((layer, index) => layerSlots(layer, dims, parts).map((slot) => inLayer(slot, index))),
    ...(plan.finalNorm ? parts.normSlots(plan.finalNorm, plan.hiddenSize, 'finalNorm.') : []).map(whole),
    ...headSlots(plan, dims, parts).map(whole),
  ];
  const names = new Set<string>();
  for (const { name } of slots) {
    if (names.has(name)) throw new KvadError('KVAD_E_PLAN_SLOT', { slot: name });
    names.add(name);
  }
  return slots;
};

/** Columns that a step before the head turns rows of `width` columns into. */
export const headStepWidth = (step: HeadStepPlan, width: number): number =>
  step.axis === 'linear' ? linearOptions(step).size : width;

/** Options of a `linear` step before the head: its output columns, and whether it has a bias. */
export const linearOptions = (step: HeadStepPlan): { size: number; bias: boolean } => {
  const { size, bias } = step.options as { size?: unknown; bias?: unknown };
  const invalid = (path: string, reason: string) =>
    new KvadError('KVAD_E_PLAN_OPTIONS', { axis: 'linear', kind: step.kind, path, reason });
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 1) throw invalid('/size', 'must be a size');
  if (typeof bias !== 'boolean') throw invalid('/bias', 'must be a boolean');
  return { size, bias };
};

const embeddingSlots = ({ embedding, vocabSize, hiddenSize }: ModelPlan, parts: Parts): WeightSlot[] => [
  { name: 'embedding.tokens.weight', shape: [vocabSize, embedding.size], role: 'matrix' },
  ...(embedding.project ? linearSlots('embedding.project.', hiddenSize, embedding.size, embedding.project.bias) : []),
  ...(embedding.positions.kind === 'learned'
    ? [{ name: 'embedding.positions.weight', shape: [embedding.positions.count, hiddenSize], role: 'exact' } as const]
    : []),
  ...(embedding.norm ? parts.normSlots(embedding.norm, hiddenSize, 'embedding.norm.') : []),
];

/** Names with `{layer}` in them. */
const layerSlots = (layer: LayerPlan, dims: Dims, parts: Parts): WeightSlot[] => [
  ...parts.slots('block', layer.block, dims, 'layers.{layer}.block.'),
  ...layer.ops.flatMap((op) => [
    ...parts.slots(op.axis, op, dims, `layers.{layer}.${op.name}.`),
    ...opNormSlots(op, dims, parts),
  ]),
];

const opNormSlots = (op: OpPlan, dims: Dims, parts: Parts): WeightSlot[] =>
  (['before', 'after', 'sum'] as const).flatMap((place) => {
    const norm = op.norm[place];
    return norm ? parts.normSlots(norm, dims.hiddenSize, `layers.{layer}.${op.name}.norm.${place}.`) : [];
  });

const headSlots = ({ head, hiddenSize, vocabSize }: ModelPlan, dims: Dims, parts: Parts): WeightSlot[] => {
  let width = hiddenSize;
  const steps = head.before.flatMap((step, index) => {
    const slots = headStepSlots(step, width, dims, parts, `head.before.${index}.`);
    width = headStepWidth(step, width);
    return slots;
  });
  return [...steps, ...linearSlots('head.', vocabSize, width, head.bias)];
};

const headStepSlots = (step: HeadStepPlan, width: number, dims: Dims, parts: Parts, prefix: string) => {
  if (step.axis === 'linear') {
    const { size, bias } = linearOptions(step);
    return linearSlots(prefix, size, width, bias);
  }
  return parts.slots(step.axis, headStepPart(step, width), { ...dims, hiddenSize: width }, prefix);
};

/** A norm before the head is told the length of its rows. */
export const headStepPart = (step: HeadStepPlan, width: number) => ({
  kind: step.kind,
  options: step.axis === 'norm' ? { ...step.options, size: width } : step.options,
});

const linearSlots = (prefix: string, rows: number, cols: number, bias: boolean): WeightSlot[] => [
  { name: `${prefix}weight`, shape: [rows, cols], role: 'matrix' },
  ...(bias ? [{ name: `${prefix}bias`, shape: [rows], role: 'exact' } as const] : []),
];

const whole = (slot: WeightSlot): PlannedSlot => ({ ...slot, pattern: slot.name, layer: null });

const inLayer = (slot: WeightSlot, layer: number): PlannedSlot => ({
  ...slot,
  name: slot.name.replace('{layer}', String(layer)),
  pattern: slot.name,
  layer,
});
