import { decoder, defineFamily, definePlugin, ends, from, inLayer, norms } from '@kvad/core/plugin';
import { rms, single, withPrefixes } from '@kvad/core/plugin';
import { scan, type ScanOptions } from './mixer.js';

type Config = Record<'vocab_size' | 'hidden_size' | 'num_hidden_layers' | 'state_size' | 'conv_kernel', number> &
  Record<'expand' | 'layer_norm_epsilon', number> &
  Record<'use_bias' | 'use_conv_bias' | 'tie_word_embeddings', boolean> & { time_step_rank: number | 'auto' };

const all = (reason: string, ...keys: string[]) => Object.fromEntries(keys.map((key) => [key, reason]));
const TRAINING = ['rescale_prenorm_residual', 'time_step_floor', 'time_step_init_scheme', 'time_step_scale'];

const family = defineFamily<Config>({
  modelTypes: ['example_scan'],
  about: 'selective state spaces alone: one op a layer, no attention',
  reference: 'arXiv:2312.00752; modeling_mamba.py of transformers',
  config: {
    schema: 'example_scan.schema.json',
    inert: {
      ...all('initial values, before training', ...TRAINING, 'time_step_min', 'time_step_max'),
      ...all('another way to the same numbers', 'residual_in_fp32', 'use_associative_scan', 'use_mambapy'),
      hidden_act: 'only "silu" is accepted',
      intermediate_size: 'expand * hidden_size; the shapes of the tensors show one that differs',
    },
  },

  plan: (c) => {
    const rank = c.time_step_rank === 'auto' ? Math.ceil(c.hidden_size / 16) : c.time_step_rank;
    const sizes = { inner: c.expand * c.hidden_size, size: c.state_size, rank, kernel: c.conv_kernel };
    const options: ScanOptions = { ...sizes, bias: c.use_bias, convBias: c.use_conv_bias };
    return decoder({
      vocabSize: c.vocab_size,
      hiddenSize: c.hidden_size,
      contextLength: 2 ** 20, // its memory has one size, whatever came before
      layerCount: c.num_hidden_layers,
      layer: () => single(rms(c.layer_norm_epsilon), 'mixer', { kind: 'example-scan', ...options }),
      finalNorm: rms(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings },
    });
  },

  weights: () =>
    withPrefixes(
      ['backbone.'],
      [
        ...ends({ embedding: 'embeddings', norm: 'norm_f' }),
        ...norms({ 'mixer.norm.before': 'norm' }),
        ...inLayer('mixer.in', 'mixer.in_proj'),
        ...inLayer('mixer.select', 'mixer.x_proj'),
        ...inLayer('mixer.delta', 'mixer.dt_proj'),
        ...inLayer('mixer.out', 'mixer.out_proj'),
        ...inLayer('mixer.conv', 'mixer.conv1d'),
        from('layers.{layer}.mixer.decay.log', '{prefix}layers.{layer}.mixer.A_log'),
        from('layers.{layer}.mixer.skip', '{prefix}layers.{layer}.mixer.D'),
      ],
    ),
});

export default definePlugin({ name: 'kvad-arch-example-maths', apiVersion: 1, mixers: [scan], families: [family] });
