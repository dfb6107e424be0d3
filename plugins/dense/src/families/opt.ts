import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  from,
  layerNorm,
  multiHeadDims,
  noPositions,
  norms,
  op,
  pre,
  residualBlock,
  separateQKV,
  upDown,
  withPrefixes,
  type LayerOps,
  type NormPlan,
  type LayerPlan,
} from '@kvad/core/plugin';
import type { OptConfig } from '../generated/opt.js';

/**
 * OPT: multi-head attention and a two-matrix feed-forward with biases, learned positions that start at 2; layer norms
 * stand before each op, or (350m) after each sum, where the embedding also has a width of its own.
 * Source: arXiv:2205.01068; `modeling_opt.py` of transformers.
 */
export const opt = defineFamily<OptConfig>({
  modelTypes: ['opt'],
  about: 'multi-head attention, two-matrix feed-forward, learned positions',
  reference: 'arXiv:2205.01068; modeling_opt.py',
  config: {
    schema: 'opt.schema.json',
    inert: {
      ...dropout('activation_dropout', 'attention_dropout', 'dropout', 'layerdrop'),
      learned_embeddings: 'only true is accepted: positions are learned',
      scale_embeddings: 'only false is accepted: embeddings are taken as they are',
      rms_norm_eps: 'its norms are layer norms, always with 1e-5',
    },
  },

  plan: (c, dims = multiHeadDims(c)) =>
    decoder({
      ...dims.model,
      embedding: {
        size: c.word_embed_proj_dim ?? c.hidden_size,
        positions: { kind: 'learned', count: c.max_position_embeddings + 2, offset: 2 },
        project: isProjected(c) ? { bias: false } : null,
      },
      layer: () =>
        (c.do_layer_norm_before ? pre : afterSum)(normOf(c), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.enable_bias, o: c.enable_bias }),
            positions: noPositions,
            mask: causal(),
          },
          ffn: {
            kind: 'mlp',
            activation: activationOf(c.activation_function, 'activation_function'),
            size: c.ffn_dim,
            bias: c.enable_bias,
          },
        }),
      finalNorm: !c._remove_final_layer_norm && c.do_layer_norm_before ? normOf(c) : null,
      head: {
        tied: c.tie_word_embeddings,
        before: isProjected(c)
          ? [{ axis: 'linear', kind: 'linear', options: { size: c.word_embed_proj_dim, bias: false } }]
          : [],
      },
    }),

  weights: (c, place = c.do_layer_norm_before ? 'before' : 'sum') =>
    withPrefixes(
      ['model.decoder.', 'decoder.'],
      [
        ...ends({ norm: 'final_layer_norm' }),
        from('embedding.positions.weight', '{prefix}embed_positions.weight'),
        from('embedding.project.weight', '{prefix}project_in.weight'),
        from('head.before.0.weight', '{prefix}project_out.weight'),
        ...norms({ [`mixer.norm.${place}`]: 'self_attn_layer_norm', [`ffn.norm.${place}`]: 'final_layer_norm' }),
        ...separateQKV('self_attn.', 'out_proj'),
        ...upDown('fc1', 'fc2'),
      ],
    ),
});

const normOf = ({ layer_norm_elementwise_affine: affine }: OptConfig) =>
  layerNorm(1e-5, { weight: affine, bias: affine });

const isProjected = ({ word_embed_proj_dim: width, hidden_size: size }: OptConfig): boolean =>
  width !== null && width !== size;

/** `x = norm(x + op(x))`, twice. */
const afterSum = (norm: NormPlan, { mixer, ffn }: LayerOps): LayerPlan =>
  residualBlock([op('mixer', mixer, { sum: norm }), op('ffn', ffn, { sum: norm })]);
