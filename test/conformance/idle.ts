/** Keys of a fixture's config that its family reads and that rightly change nothing there. A stale entry fails. */
export const IDLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'dense-core/qwen2': {
    max_window_layers: 'layer_types says which layers have a window',
    sliding_window: 'no layer has a window',
    use_sliding_window: 'no layer has a window',
  },
  'dense-core/qwen2_sharded': {
    max_window_layers: 'layer_types says which layers have a window',
    sliding_window: 'no layer has a window',
    use_sliding_window: 'no layer has a window',
  },
  'dense-core/qwen3': {
    max_window_layers: 'layer_types says which layers have a window',
    sliding_window: 'no layer has a window',
    use_sliding_window: 'no layer has a window',
  },
  'moe/dots1': { sliding_window: 'no layer has a window' },
  'moe/qwen2_moe': {
    max_window_layers: 'layer_types says which layers have a window',
    sliding_window: 'no layer has a window',
    use_sliding_window: 'no layer has a window',
  },
  'options/qwen2_head_dim': {
    max_window_layers: 'layer_types says which layers have a window',
    sliding_window: 'no layer has a window',
    use_sliding_window: 'no layer has a window',
  },
  'breadth/smollm3': { use_sliding_window: 'no layer has a window' },
};
