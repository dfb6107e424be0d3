import { refuseConfig } from '@kvad/core/plugin';

/** Keys of configs that say which layers have a linear memory and which have softmax attention. */
export interface LayerKindKeys {
  readonly num_hidden_layers: number;
  readonly layer_types: readonly ('linear_attention' | 'full_attention')[] | null;
}

/** True for the layers with a linear memory: as `layer_types` says, else as the family does. */
export const linearLayers = (
  { num_hidden_layers: layers, layer_types: types }: LayerKindKeys,
  otherwise: (layer: number) => boolean,
): ((layer: number) => boolean) => {
  if (types === null) return otherwise;
  if (types.length !== layers) refuseConfig('layer_types', types, `does not name each of the ${layers} layers`);
  return (layer) => types[layer] === 'linear_attention';
};

/** The layers that `full_attention_interval` leaves: one of so many, the last of each, has softmax attention. */
export const linearByInterval = (config: LayerKindKeys & { readonly full_attention_interval: number }) =>
  linearLayers(config, (layer) => (layer + 1) % config.full_attention_interval !== 0);

/** Keys that a model without the layers that read them does not depend on. */
export const KEYS_OF_SOME_LAYERS: Readonly<Record<string, string>> = {
  attention_bias: 'only layers with softmax attention use it',
  linear_conv_kernel_dim: 'only layers with a linear memory use it',
  full_attention_interval: 'layer_types decides where it is given',
};
