import { growing, type BoundWeights, type PlannedSlot, type StateSpec } from '@kvad/core';
import type { CliInfo } from '@kvad/schemas';

type Precision = keyof CliInfo['memory'];
const PRECISIONS: readonly Precision[] = ['f32', 'bf16', 'q8', 'q4'];

/** Elements and bytes of weights; a tensor that two slots share counts once. Without weights each slot has its own. */
export const weightSize = (
  slots: readonly PlannedSlot[],
  weights: BoundWeights | null,
): Pick<CliInfo, 'parameters' | 'memory'> => {
  const distinct = [...new Map(slots.map((slot) => [weights?.sourceOf(slot.name) ?? slot.name, slot])).values()];
  const memory = PRECISIONS.map(
    (precision) => [precision, sum(distinct, (slot) => slotBytes(slot, precision))] as const,
  );
  return {
    parameters: { total: sum(distinct, elements), active: sum(distinct, activeElements) },
    memory: Object.fromEntries(memory) as CliInfo['memory'],
  };
};

const sum = (slots: readonly PlannedSlot[], size: (slot: PlannedSlot) => number): number =>
  slots.reduce((total, slot) => total + size(slot), 0);

const elements = ({ shape }: PlannedSlot): number => shape.reduce((product, size) => product * size, 1);

const activeElements = (slot: PlannedSlot): number => {
  const [experts = 1] = slot.shape;
  return (elements(slot) * Math.min(slot.active ?? experts, experts)) / experts;
};

/** Blocks of 32 along a row, each with an f16 scale; the last one padded. */
const BLOCK = { length: 32, q8: 34, q4: 18 } as const;

/** Looked up or scored token by token: 8 bits in a q4 model. */
const BY_TOKEN: ReadonlySet<string> = new Set(['embedding.tokens.weight', 'head.weight']);

const slotBytes = (slot: PlannedSlot, precision: Precision): number => {
  if (slot.role !== 'matrix' && slot.role !== 'stack') return elements(slot) * 4;
  if (precision === 'f32') return elements(slot) * 4;
  if (precision === 'bf16') return elements(slot) * 2;
  const columns = slot.shape.at(-1) ?? 1;
  const blocks = (elements(slot) / columns) * Math.ceil(columns / BLOCK.length);
  return blocks * BLOCK[precision === 'q4' && BY_TOKEN.has(slot.name) ? 'q8' : precision];
};

/** Bytes of what a sequence holds, with an f16 KV cache. */
export const stateSize = (specs: readonly StateSpec[], contextLength: number): CliInfo['state'] => {
  const bytes = ({ shape, dtype }: StateSpec): number =>
    shape.reduce((product, size) => product * size, 1) * (dtype === 'f16' || dtype === 'cache' ? 2 : 4);
  const total = (chosen: readonly StateSpec[]): number =>
    chosen.reduce((all, spec) => all + bytes(spec) / (spec.every ?? 1), 0);
  const perToken = total(specs.filter(({ kind }) => growing(kind)));
  const fixed = total(specs.filter(({ kind }) => !growing(kind)));
  return {
    kv_cache_dtype: 'f16',
    bytes_per_token: perToken,
    fixed_bytes: fixed,
    bytes_at_full_context: Math.ceil(fixed + perToken * contextLength),
  };
};
