import { refuseConfig } from './config-refusal.js';

/** What a config says of windows, and what its family does where it says nothing. */
export interface WindowKeys {
  readonly layers: number;
  /** `layer_types` as the config has it. */
  readonly types: readonly string[] | null;
  /** Keys that a sliding layer sees; null: no layer slides. */
  readonly window: number | null;
  /** Which layers slide where the config has no `layer_types`. */
  readonly slides: (layer: number) => boolean;
}

/** The window of each layer; null where it sees all keys so far. */
export const layerWindows = ({ layers, types, window, slides }: WindowKeys): ((layer: number) => number | null) => {
  const sliding = types === null ? indices(layers).map(slides) : slidingLayers(types, layers);
  if (types !== null && window === null && sliding.includes(true))
    refuseConfig('layer_types', types, 'has sliding layers, but no window is set');
  return (layer) => (sliding[layer] === true ? window : null);
};

/** Which layers of `layer_types` slide; other values than the two of softmax attention are refused. */
export const slidingLayers = (types: readonly string[], layers: number): boolean[] => {
  if (types.length !== layers) refuseConfig('layer_types', types, `does not name each of the ${layers} layers`);
  return types.map((type) => {
    if (type !== 'sliding_attention' && type !== 'full_attention')
      refuseConfig('layer_types', type, 'is not a kind of attention that this family has');
    return type === 'sliding_attention';
  });
};

const indices = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Keys of configs whose last layers have a window, if `use_sliding_window` says so. */
export interface LateWindowKeys {
  readonly num_hidden_layers: number;
  readonly use_sliding_window: boolean;
  readonly sliding_window: number | null;
  readonly max_window_layers: number;
  readonly layer_types: readonly string[] | null;
}

/** The layers from `max_window_layers` on slide, unless `layer_types` says which. */
export const lateWindows = (config: LateWindowKeys): ((layer: number) => number | null) => {
  const { use_sliding_window, sliding_window, max_window_layers, layer_types } = config;
  return layerWindows({
    layers: config.num_hidden_layers,
    types: layer_types,
    window: use_sliding_window ? sliding_window : null,
    slides: (layer) => layer >= max_window_layers,
  });
};
