import { bindWeights, openCheckpoint, type BoundWeights, type PlannedSlot, type WeightAudit } from '@kvad/core';
import { from, unneeded, type WeightRule } from '@kvad/core/plugin';
import type { TensorBytes } from '@kvad/core/testing';
import { onTestFinished } from 'vitest';
import { f32, fileOf, folderOf } from './files.js';

export const LAYERS = 3;
const VOCABULARY = 8;
const HIDDEN = 4;

/** A slot of one layer, or of none. */
export const slot = (
  pattern: string,
  shape: number[],
  layer: number | null = null,
  role: PlannedSlot['role'] = 'exact',
): PlannedSlot => ({
  name: pattern.replace('{layer}', String(layer)),
  pattern,
  layer,
  shape,
  role,
});

/** The slots of a small decoder: embedding, two matrices and a norm a layer, head. */
export const slots = (layers = LAYERS): PlannedSlot[] => [
  slot('embedding.tokens.weight', [VOCABULARY, HIDDEN], null, 'matrix'),
  ...Array.from({ length: layers }, (_, layer) => [
    slot('layers.{layer}.mixer.norm.before.weight', [HIDDEN], layer),
    slot('layers.{layer}.mixer.q.weight', [HIDDEN, HIDDEN], layer, 'matrix'),
    slot('layers.{layer}.ffn.down.weight', [HIDDEN, 2 * HIDDEN], layer, 'matrix'),
  ]).flat(),
  slot('head.weight', [VOCABULARY, HIDDEN], null, 'matrix'),
];

export const RULES: readonly WeightRule[] = [
  from('embedding.tokens.weight', 'model.embed_tokens.weight'),
  from('layers.{layer}.mixer.norm.before.weight', 'model.layers.{layer}.norm.weight'),
  from('layers.{layer}.mixer.q.weight', 'model.layers.{layer}.q_proj.weight'),
  from('layers.{layer}.mixer.q.bias', 'model.layers.{layer}.q_proj.bias'),
  from('layers.{layer}.ffn.down.weight', 'model.layers.{layer}.down_proj.weight'),
  from('head.weight', 'lm_head.weight'),
  unneeded('model.layers.{layer}.rotary_emb.inv_freq', 'computed from the config'),
];

export type Tensors = Record<string, TensorBytes>;

/** The tensors that fill these slots. */
export const tensors = (layers = LAYERS): Tensors => ({
  'model.embed_tokens.weight': f32([VOCABULARY, HIDDEN]),
  ...Object.fromEntries(
    Array.from({ length: layers }, (_, layer) => [
      [`model.layers.${layer}.norm.weight`, f32([HIDDEN])],
      [`model.layers.${layer}.q_proj.weight`, f32([HIDDEN, HIDDEN])],
      [`model.layers.${layer}.down_proj.weight`, f32([HIDDEN, 2 * HIDDEN])],
    ]).flat(),
  ),
  'lm_head.weight': f32(
    [VOCABULARY, HIDDEN],
    Array.from({ length: VOCABULARY * HIDDEN }, (_, i) => -i),
  ),
});

export const rename = (from: Tensors, change: (name: string) => string): Tensors =>
  Object.fromEntries(Object.entries(from).map(([name, tensor]) => [change(name), tensor]));

export const without = (from: Tensors, absent: (name: string) => boolean): Tensors =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !absent(name)));

export interface Bound {
  readonly weights: BoundWeights;
  readonly audit: WeightAudit;
  readonly directory: string;
}

export const bind = (
  stored: Tensors,
  options: { slots?: readonly PlannedSlot[]; rules?: readonly WeightRule[]; tied?: boolean } = {},
): Bound => {
  const checkpoint = openCheckpoint(folderOf({ 'model.safetensors': fileOf(stored) }));
  onTestFinished(() => checkpoint.close());
  const bound = bindWeights({ slots: slots(), rules: RULES, tied: false, checkpoint, ...options });
  return { ...bound, directory: checkpoint.directory };
};
