/** Which layers of a model have experts; the others have a dense feed-forward. */
import type { OpChoice } from './blocks.js';
import { refuseConfig } from './config-refusal.js';

export type SparseLayers = (layer: number) => boolean;

/** The feed-forward of each layer. */
export const byLayer =
  (isSparse: SparseLayers, sparse: OpChoice, dense: OpChoice): ((layer: number) => OpChoice) =>
  (layer) =>
    isSparse(layer) ? sparse : dense;

/** Every `step`-th layer, counted from 1, that is not among `dense` (`decoder_sparse_step`, `mlp_only_layers`). */
export const everyLayer =
  (step: number, dense: readonly number[] = []): SparseLayers =>
  (layer) =>
    (layer + 1) % step === 0 && !dense.includes(layer);

/** The layers from `first` on (`first_k_dense_replace`) whose number is a multiple of `every` (`moe_layer_freq`). */
export const fromLayer =
  (first: number, every = 1): SparseLayers =>
  (layer) =>
    layer >= first && layer % every === 0;

/** Every `interval`-th layer, counted from 1, from layer `first` to layer `last`, both included. */
export const betweenLayers =
  (first: number, last: number, interval: number): SparseLayers =>
  (layer) =>
    (layer + 1) % interval === 0 && layer >= first && layer <= last;

/** As a list says of each layer (`mlp_layer_types`). */
export const listedLayers = (types: readonly ('dense' | 'sparse')[], layers: number): SparseLayers => {
  if (types.length !== layers) refuseConfig('mlp_layer_types', types, `does not name each of the ${layers} layers`);
  return (layer) => types[layer] === 'sparse';
};
