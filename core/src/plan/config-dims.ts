import { refuseConfig } from './config-refusal.js';

/** The sizes of a decoder, as most configs name them; a family with other names maps them onto these. */
export interface SizeKeys {
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly max_position_embeddings: number;
  readonly num_attention_heads: number;
  /** Absent or null: one key and value head a query head. */
  readonly num_key_value_heads?: number | null;
  /** Absent or null: `hidden_size / num_attention_heads`, which must then divide. */
  readonly head_dim?: number | null;
}

export interface DecoderDims {
  /** For `decoder`. */
  readonly model: {
    readonly vocabSize: number;
    readonly hiddenSize: number;
    readonly layerCount: number;
    readonly contextLength: number;
  };
  /** For a softmax attention mixer; `scale` is the usual `headDim ** -0.5`. */
  readonly attention: HeadDims & { readonly valueDim: number; readonly scale: number };
}

export interface HeadDims {
  readonly heads: number;
  /** Divides `heads`. */
  readonly kvHeads: number;
  readonly headDim: number;
}

/** The sizes of a decoder, read from its config. */
export const decoderDims = (config: SizeKeys): DecoderDims => {
  const heads = headDims(config);
  return {
    model: {
      vocabSize: config.vocab_size,
      hiddenSize: config.hidden_size,
      layerCount: config.num_hidden_layers,
      contextLength: config.max_position_embeddings,
    },
    attention: { ...heads, valueDim: heads.headDim, scale: heads.headDim ** -0.5 },
  };
};

/** Of a family in which each query head has keys of its own and all heads share `hidden_size`: other keys stay unread. */
export const multiHeadDims = (config: Omit<SizeKeys, 'num_key_value_heads' | 'head_dim'>): DecoderDims =>
  decoderDims({
    vocab_size: config.vocab_size,
    hidden_size: config.hidden_size,
    num_hidden_layers: config.num_hidden_layers,
    max_position_embeddings: config.max_position_embeddings,
    num_attention_heads: config.num_attention_heads,
  });

/** Heads, key and value heads and their width, read from a config. */
export const headDims = (
  config: Pick<SizeKeys, 'hidden_size' | 'num_attention_heads' | 'num_key_value_heads' | 'head_dim'>,
): HeadDims => {
  const heads = config.num_attention_heads;
  const kvHeads = config.num_key_value_heads ?? heads;
  const headDim = config.head_dim ?? config.hidden_size / heads;
  if (!Number.isInteger(headDim))
    refuseConfig('num_attention_heads', heads, `does not divide "hidden_size": ${config.hidden_size}`);
  if (heads % kvHeads !== 0)
    refuseConfig('num_key_value_heads', kvHeads, `does not divide "num_attention_heads": ${heads}`);
  return { heads, kvHeads, headDim };
};

/**
 * A size that files of a family give under either of two names. Two that differ are refused; neither: the default of
 * the published config class.
 */
export const eitherName = <K extends string>(
  config: Readonly<Partial<Record<K, number>>>,
  name: K,
  other: K,
  otherwise: number,
): number => {
  const { [name]: value, [other]: otherValue } = config;
  if (value !== undefined && otherValue !== undefined && value !== otherValue)
    refuseConfig(name, value, `is not "${other}": ${otherValue}, another name of the same`);
  return value ?? otherValue ?? otherwise;
};
