import type { PlannedSlot } from '../plan/planned-slot.js';
import { isSlotRule, type SlotRule, type Transform, type WeightRule } from '../plan/weight-rules.js';
import type { RecipeTensor } from './recipe.js';

export interface PlanWeightsRequest {
  readonly slots: readonly PlannedSlot[];
  readonly rules: readonly WeightRule[];
  /** The head is the embedding. */
  readonly tied: boolean;
}

const FILE = 'model.safetensors';

/**
 * Tensors that fill a plan with random weights, under the names and in the layout that its weight rules read: a family
 * can be run before anybody has a checkpoint of it. Throws an Error for a rule whose layout cannot be told backwards.
 */
export const planWeights = ({ slots, rules, tied }: PlanWeightsRequest): RecipeTensor[] => {
  const slotRules = rules.filter(isSlotRule);
  const tensors = new Map<string, RecipeTensor>();
  for (const slot of slots) {
    if (tied && slot.name === 'head.weight') continue;
    // of several the first: the name that the family's own files have
    const rule = slotRules.find((one) => one.slot === slot.pattern);
    if (rule === undefined) throw new Error(`no weight rule fills ${slot.name}`);
    for (const [name, shape] of storedTensors(slot, rule)) {
      const before = tensors.get(name)?.[2];
      const merged = shape.map((size, axis) => Math.max(size, before?.[axis] ?? 0));
      tensors.set(name, [name, slot.role === 'integers' ? 'I64' : 'F32', merged, ...valuesOf(slot), FILE]);
    }
  }
  return [...tensors.values()].sort(([a], [b]) => (a < b ? -1 : 1));
};

/** Mean and width: matrices keep the size of what goes through them, norms lie around 1, biases are felt. */
const valuesOf = ({ name, role, shape }: PlannedSlot): [mean: number, scale: number] => {
  if (role === 'matrix' || role === 'stack') return [0, Math.sqrt(3 / (shape.at(-1) ?? 1))];
  return /norm[^.]*\.(before\.|after\.|sum\.)?weight$/i.test(name) ? [1, 0.5] : [0, 0.5];
};

/** Names and least shapes of the stored tensors of a slot, of the first of its rule's sources. */
const storedTensors = (slot: PlannedSlot, rule: SlotRule): [string, number[]][] => {
  const [source] = rule.sources;
  if (source === undefined || typeof source.tensors !== 'string')
    throw new Error(`the weights of ${slot.name} are joined from several tensors: give the fixture weights`);
  const layer = /^layers\.(\d+)\./.exec(slot.name)?.[1] ?? '';
  const name = source.tensors.replace('{layer}', layer);
  const experts = source.transform.find(({ op }) => op === 'stack');
  const shape = source.transform.reduceRight(
    (after, transform) => before(after, transform, slot.name),
    [...slot.shape],
  );
  const names =
    experts?.op === 'stack'
      ? Array.from({ length: experts.count }, (_, expert) => name.replace('{expert}', String(expert)))
      : [name];
  return names.map((one) => [one, shape]);
};

/** The shape from which a transform makes `shape`; where it takes a part, the least that has it. */
const before = (shape: number[], transform: Transform, slot: string): number[] => {
  const [first = 0, ...rest] = shape;
  switch (transform.op) {
    case 'transpose':
      return shape.toReversed();
    case 'transposeLast':
      return [...shape.slice(0, -2), ...shape.slice(-2).reverse()];
    case 'rows':
      return [transform.start + first, ...rest];
    case 'perGroup':
      return [transform.groups * transform.size, ...rest];
    case 'squeeze':
      if (transform.axis !== undefined) return shape.toSpliced(transform.axis, 0, 1);
      break;
    case 'stack':
      return rest;
    case 'split':
      return shape.with(transform.axis, 2 * shape[transform.axis]!);
    case 'reshape':
    case 'concat':
      break;
  }
  throw new Error(`the layout of ${slot} cannot be told from its rule ("${transform.op}"): give the fixture weights`);
};
