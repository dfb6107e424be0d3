import { activationOf, biases, causal, decoder, decoderDims, defineFamily, definePlugin } from '@kvad/core/plugin';
import { gateUpDown, pre, rms, rope, ropeOf, separateQKV, standardDecoder, withPrefixes } from '@kvad/core/plugin';

const family = defineFamily({
  modelTypes: ['example_decoder'],
  about: 'grouped-query attention and a gated feed-forward',
  reference: 'arXiv:2403.17297; modeling_internlm3.py',
  config: { schema: 'example_decoder.schema.json', inert: { attention_dropout: 'training only' } },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.mlp_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.'], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

export default definePlugin({ name: 'kvad-arch-example-data', apiVersion: 1, families: [family] });
