import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  definePlugin,
  gateUpDown,
  pre,
  rms,
  rope,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';

const acme = defineFamily({
  modelTypes: ['acme_lm'],
  about: 'grouped-query attention with config keys of its own',
  reference: 'the test that uses it',
  config: { schema: 'acme_lm.schema.json', inert: { made_by: 'says who, not what' } },

  plan: (c) =>
    decoder({
      vocabSize: c.n_vocab,
      hiddenSize: c.d_model,
      contextLength: c.n_context,
      layerCount: c.n_layers,
      layer: () =>
        pre(rms(c.norm_eps), {
          mixer: {
            kind: 'attention',
            heads: c.n_heads,
            kvHeads: c.n_kv_heads,
            headDim: c.d_head,
            valueDim: c.d_head,
            scale: c.d_head ** -0.5,
            bias: biases({ qkv: false, o: false }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf('silu'), size: c.d_ffn, bias: false },
        }),
      rope: { main: { type: 'default', theta: c.rotary_base, dims: c.d_head } },
      finalNorm: rms(c.norm_eps),
      head: { tied: false },
    }),

  weights: () => withPrefixes(['model.'], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

export default definePlugin({ name: 'kvad-arch-acme', apiVersion: 1, families: [acme] });
