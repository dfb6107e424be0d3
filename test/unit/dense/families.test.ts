import { planModel } from '@kvad/core';
import type { ModelPlan } from '@kvad/core/plugin';
import { familyIn } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { dense } from './hand-made.js';

type Config = Readonly<Record<string, unknown>>;

const planOf = (modelType: string, config: Config = {}): ModelPlan => {
  const { family, schemas } = familyIn([dense], modelType);
  return planModel({ family, modelType, raw: { model_type: modelType, ...config }, file: 'config.json', schemas }).plan;
};
const mixerOf = (plan: ModelPlan, layer: number): Config => plan.layers[layer]!.ops[0]!.options;
const ffnOf = (plan: ModelPlan): Config => plan.layers[0]!.ops[1]!.options;
const windowsOf = (plan: ModelPlan): unknown[] =>
  plan.layers.map((_, layer) => (mixerOf(plan, layer)['mask'] as { size?: number }).size ?? null);

const COHERE = {
  position_embedding_type: 'rope_gptj',
  rotary_pct: 1,
  use_embedding_sharing: true,
  use_gated_activation: true,
  use_parallel_block: true,
  use_parallel_embedding: true,
};
const COMMAND_R7B = { ...COHERE, layer_switch: 4, order_of_interleaved_layers: 'local_attn_first' };
const BLOOM_560M = { bias_dropout_fusion: true, offset_alibi: 100, skip_bias_add: true, skip_bias_add_qkv: false };
const HUNYUAN = {
  add_classification_head: false,
  attention_head_dim: 128,
  cla_share_factor: 2,
  class_num: 0,
  dense_list: [4096, 0],
  im_end_id: 5,
  mask_init_id: 12,
  mlp_bias: false,
  norm_type: 'rms',
  org_vocab_size: 128167,
  pool_type: 'last',
  skip_cls_token: false,
  use_cla: false,
  use_qk_norm: true,
  use_rotary_pos_emb: true,
};

describe('values that are refused', () => {
  it.each([
    ['gpt2', { add_cross_attention: true }, 'KVAD_E_CONFIG_UNKNOWN_KEY', 'add_cross_attention'],
    ['llama', { partial_rotary_factor: 0.5 }, 'KVAD_E_CONFIG_UNKNOWN_KEY', 'partial_rotary_factor'],
    ['qwen3', { attn_logit_softcapping: 50 }, 'KVAD_E_CONFIG_UNKNOWN_KEY', 'attn_logit_softcapping'],
    ['qwen2', { is_causal: false }, 'KVAD_E_CONFIG_UNKNOWN_KEY', 'is_causal'],
    ['mistral', { layer_types: ['full_attention'] }, 'KVAD_E_CONFIG_UNKNOWN_KEY', 'layer_types'],
    ['llama', { rope_interleaved: true }, 'KVAD_E_CONFIG_INVALID', 'rope_interleaved'],
    ['gemma', { use_bidirectional_attention: true }, 'KVAD_E_CONFIG_INVALID', 'use_bidirectional_attention'],
    ['falcon', { alibi: true }, 'KVAD_E_CONFIG_INVALID', 'alibi'],
    ['mistral', { sliding_window: 0 }, 'KVAD_E_CONFIG_INVALID', 'sliding_window'],
    ['qwen3', { layer_types: ['linear_attention'] }, 'KVAD_E_CONFIG_INVALID', 'layer_types'],
    ['llama', { hidden_act: 'mish' }, 'KVAD_E_CONFIG_VALUE', 'mish'],
    ['gpt2', { activation_function: 'toString' }, 'KVAD_E_CONFIG_VALUE', 'activation_function'],
    ['llama', { num_attention_heads: 30 }, 'KVAD_E_CONFIG_VALUE', 'num_attention_heads'],
    ['llama', { num_key_value_heads: 3 }, 'KVAD_E_CONFIG_VALUE', 'num_key_value_heads'],
    ['bloom', { n_layer: 2, num_hidden_layers: 3 }, 'KVAD_E_CONFIG_VALUE', 'n_layer'],
    ['apertus', { rope_scaling: null }, 'KVAD_E_CONFIG_VALUE', 'rope_theta'],
    ['gpt_neo', { num_layers: 4 }, 'KVAD_E_CONFIG_VALUE', 'attention_types'],
    ['qwen2', { num_hidden_layers: 2, layer_types: ['full_attention'] }, 'KVAD_E_CONFIG_VALUE', 'layer_types'],
    ['qwen2', { num_hidden_layers: 1, layer_types: ['sliding_attention'] }, 'KVAD_E_CONFIG_VALUE', 'no window'],
  ])('%s with %o', (type, config, code, named) => {
    expect(() => planOf(type, config)).toThrow(expect.objectContaining({ code }));
    expect(() => planOf(type, config)).toThrow(named);
  });
});

describe('what a config means', () => {
  it('pretraining_tp changes nothing', () => {
    expect(planOf('llama', { pretraining_tp: 4 })).toEqual(planOf('llama'));
  });

  it.each([
    // Phi-4 mini, Aya Expanse, BLOOM 560m, GPT-NeoX 20B, Galactica, DistilGPT2, Command R7B, Falcon 2 11B, Hunyuan 7B, Qwen 2.5 1M
    ['phi3', { full_attn_mod: 1, interpolate_factor: 1, lm_head_bias: false, mlp_bias: false }, 'lm_head_bias', true],
    ['cohere', { ...COHERE, model_max_length: 131072, pretraining_tp: 1 }, 'position_embedding_type', 'alibi'],
    ['bloom', BLOOM_560M, 'multi_query', true],
    ['gpt_neox', { attention_probs_dropout_prob: 0, hidden_dropout_prob: 0 }, 'rotary', true],
    ['opt', { learned_embeddings: true, scale_embeddings: false }, 'scale_embeddings', true],
    ['gpt2', { _num_labels: 1, output_past: true, unk_token_id: 0 }, 'rotary', true],
    ['cohere2', COMMAND_R7B, 'order_of_interleaved_layers', 'global_attn_first'],
    ['falcon', { ff_factor: 4 }, 'ff_factor', 2],
    ['hunyuan_v1_dense', HUNYUAN, 'use_cla', true],
    ['qwen2', { dual_chunk_attention_config: { chunk_size: 262144, local_size: 8192 } }, 'use_mrope', true],
  ])('%s knows keys of its published files that say what it does anyway', (type, keys, key, other) => {
    expect(planOf(type, keys)).toEqual(planOf(type));
    expect(() => planOf(type, { ...keys, [key]: other })).toThrow(key);
  });

  it('an absent or null number of key heads is one a query head', () => {
    expect(mixerOf(planOf('llama'), 0)).toMatchObject({ heads: 32, kvHeads: 32 });
    expect(mixerOf(planOf('llama', { num_key_value_heads: null }), 0)).toMatchObject({ kvHeads: 32 });
  });

  it('a head width of its own goes before the quotient, and sets the scale', () => {
    expect(mixerOf(planOf('llama', { head_dim: 64 }), 0)).toMatchObject({ headDim: 64, valueDim: 64, scale: 0.125 });
    expect(planOf('llama', { head_dim: 64 }).ropeTables['main']).toMatchObject({ dims: 64 });
  });

  it('mistral without the key has its window on every layer, with null none has', () => {
    expect(new Set(windowsOf(planOf('mistral')))).toEqual(new Set([4096]));
    expect(new Set(windowsOf(planOf('mistral', { sliding_window: null })))).toEqual(new Set([null]));
  });

  it('qwen2 has windows from max_window_layers on, and only if it uses them', () => {
    const config = { num_hidden_layers: 4, max_window_layers: 2, sliding_window: 8 };
    expect(windowsOf(planOf('qwen2', config))).toEqual([null, null, null, null]);
    expect(windowsOf(planOf('qwen2', { ...config, use_sliding_window: true }))).toEqual([null, null, 8, 8]);
    const layer_types = ['sliding_attention', 'full_attention', 'full_attention', 'full_attention'];
    expect(windowsOf(planOf('qwen2', { ...config, use_sliding_window: true, layer_types }))).toEqual([
      8,
      null,
      null,
      null,
    ]);
  });

  it('windows alternate as each family says', () => {
    expect(windowsOf(planOf('gemma2')).slice(0, 4)).toEqual([4096, null, 4096, null]);
    expect(windowsOf(planOf('gemma3_text')).slice(0, 7)).toEqual([4096, 4096, 4096, 4096, 4096, null, 4096]);
    expect(windowsOf(planOf('cohere2')).slice(0, 5)).toEqual([4096, 4096, 4096, null, 4096]);
    expect(windowsOf(planOf('gpt_neo')).slice(0, 3)).toEqual([null, 256, null]);
  });

  it('exaone4 rotates layers with a window only, or all where none has one', () => {
    const positions = (config: Config): unknown[] =>
      [0, 3].map((layer) => (mixerOf(planOf('exaone4', config), layer)['positions'] as Config)['kind']);
    expect(positions({})).toEqual(['rope', 'none']);
    expect(positions({ sliding_window: null })).toEqual(['rope', 'rope']);
  });

  it('gemma takes the second name of its activation where it agrees with the first', () => {
    const second = { hidden_activation: 'gelu_pytorch_tanh' };
    expect(planOf('gemma', { ...second, hidden_act: 'gelu' })).toEqual(planOf('gemma'));
    expect(planOf('gemma', { ...second, hidden_act: 'gelu_pytorch_tanh' })).toEqual(planOf('gemma'));
    expect(() => planOf('gemma', { ...second, hidden_act: 'silu' })).toThrow(/hidden_activation.*not what hidden_act/);
  });

  it('exaone4 takes a pattern in letters, or the 0 of a model without windows, where layer_types lists the layers', () => {
    const layer_types = ['sliding_attention', 'sliding_attention', 'full_attention', 'full_attention'];
    const letters = { num_hidden_layers: 4, sliding_window: 8, sliding_window_pattern: 'LLGG' };
    expect(windowsOf(planOf('exaone4', { ...letters, layer_types }))).toEqual([8, 8, null, null]);
    expect(() => planOf('exaone4', letters)).toThrow(/"sliding_window_pattern": "LLGG", which is no number of layers/);
    const none = { num_hidden_layers: 2, sliding_window: null, sliding_window_pattern: 0 };
    expect(windowsOf(planOf('exaone4', none))).toEqual([null, null]);
    expect(() => planOf('exaone4', { ...none, sliding_window: 8 })).toThrow(/"sliding_window_pattern": 0, which/);
  });

  it('ministral3 finds the scale of its queries in the older dictionary as well', () => {
    const rope_scaling = { type: 'yarn', factor: 4, original_max_position_embeddings: 32, llama_4_scaling_beta: 0.5 };
    const mixer = mixerOf(planOf('ministral3', { rope_scaling }), 0);
    expect(mixer['queryScale']).toEqual({ kind: 'position', strength: 0.5, every: 32 });
    const { llama_4_scaling_beta: _, ...without } = rope_scaling;
    expect(() => planOf('ministral3', { rope_scaling: without })).toThrow(/needed by the scale of the queries/);
  });

  it('smollm3 marks layers with positions by 1', () => {
    const plan = planOf('smollm3', { num_hidden_layers: 3, no_rope_layers: [0, 1, 1] });
    const kinds = [0, 1, 2].map((layer) => (mixerOf(plan, layer)['positions'] as Config)['kind']);
    expect(kinds).toEqual(['none', 'rope', 'rope']);
  });

  it('"gelu" of the first gemma files is the tanh form; elsewhere it is the erf form', () => {
    expect(ffnOf(planOf('gemma', { hidden_act: 'gelu' }))).toMatchObject({ activation: { kind: 'gelu_tanh' } });
    expect(ffnOf(planOf('llama', { hidden_act: 'gelu' }))).toMatchObject({ activation: { kind: 'gelu' } });
  });

  it('gpt2 divides scores by the number of the layer if it says so', () => {
    const plan = planOf('gpt2', { scale_attn_by_inverse_layer_idx: true });
    expect([0, 1, 3].map((layer) => mixerOf(plan, layer)['scale'])).toEqual([1 / 8, 1 / 16, 1 / 32]);
  });

  it('a dynamic rotary table reaches beyond the trained context', () => {
    const rope_scaling = { type: 'dynamic', factor: 2 };
    expect(planOf('llama', { max_position_embeddings: 100, rope_scaling }).contextLength).toBe(200);
  });
});
