import { describe, expect, it } from 'vitest';
import { readJson } from '../../gates/sources.js';
import { mixersOf, modelTypes, planOf, type Config } from './families.js';

const DEFAULTS = readJson('test/fixtures/options/config-defaults.json') as Record<string, Config>;
const [LINEAR, FULL] = ['linear_attention', 'full_attention'];
const [DELTA, ATTENTION] = ['gated-delta-net', 'attention'];

describe('a config that says nothing', () => {
  it.each(modelTypes)('%s means what transformers means', (type) => {
    const silent = planOf({ model_type: type });
    const explicit = planOf(DEFAULTS[type]!);
    expect(explicit.audit.refused).toEqual([]);
    expect(silent.plan).toEqual(explicit.plan);
    expect(silent.rules).toEqual(explicit.rules);
  });
});

describe('which layers have which mixer', () => {
  it.each(['qwen3_next', 'qwen3_5_text', 'qwen3_5_moe_text'])('%s: the last of each interval has attention', (type) => {
    const by = (interval: number) =>
      mixersOf(planOf({ model_type: type, num_hidden_layers: 5, full_attention_interval: interval }));
    expect(by(4)).toEqual([DELTA, DELTA, DELTA, ATTENTION, DELTA]);
    expect(by(2)).toEqual([DELTA, ATTENTION, DELTA, ATTENTION, DELTA]);
    expect(by(1)).toEqual(Array(5).fill(ATTENTION));
  });

  /** Saved configs hold the keys of either kind. */
  const BOTH_KINDS = { linear_conv_kernel_dim: 4, attention_bias: false, full_attention_interval: 4 };

  it.each(['qwen3_next', 'qwen3_5_text', 'qwen3_5_moe_text'])('%s of one kind of layer is planned', (type) => {
    for (const kind of [LINEAR, FULL]) {
      const raw = { model_type: type, num_hidden_layers: 2, layer_types: [kind, kind], ...BOTH_KINDS };
      expect(new Set(mixersOf(planOf(raw)))).toEqual(new Set([kind === LINEAR ? DELTA : ATTENTION]));
    }
  });

  it('layer_types decides where it is given, and the interval is of no account', () => {
    const { plan, audit } = planOf({
      model_type: 'qwen3_next',
      num_hidden_layers: 2,
      layer_types: [FULL, LINEAR],
      full_attention_interval: 2,
    });
    expect(plan.layers.map(({ ops }) => ops[0]!.kind)).toEqual([ATTENTION, DELTA]);
    expect(audit.inert).toContainEqual({
      key: 'full_attention_interval',
      reason: 'layer_types decides where it is given',
    });
  });

  it.each([
    [1, 'has one kind of layer only'],
    [2, [DELTA, ATTENTION]],
    [3, [DELTA, DELTA, ATTENTION]],
    [6, [DELTA, DELTA, DELTA, ATTENTION, DELTA, DELTA]],
  ])('olmo_hybrid of %i layers without layer_types', (layers, expected) => {
    const plan = () => planOf({ model_type: 'olmo_hybrid', num_hidden_layers: layers });
    if (typeof expected === 'string') expect(plan).toThrow(expected);
    else expect(mixersOf(plan())).toEqual(expected);
  });

  it('olmo_hybrid: norms stand before the delta net and after attention', () => {
    const { plan } = planOf({ model_type: 'olmo_hybrid', num_hidden_layers: 2 });
    const places = plan.layers.map(({ ops }) => ops.map(({ norm }) => Object.keys(norm)));
    expect(places).toEqual([
      [['before'], ['before']],
      [['after'], ['after']],
    ]);
  });

  it('qwen3_next: layers without experts are dense', () => {
    const raw = { model_type: 'qwen3_next', num_hidden_layers: 4, decoder_sparse_step: 2, mlp_only_layers: [3] };
    const { plan, audit } = planOf(raw);
    expect(plan.layers.map(({ ops }) => ops[1]!.kind)).toEqual(['glu', 'moe', 'glu', 'glu']);
    expect(audit.read).toEqual(expect.arrayContaining(['decoder_sparse_step', 'mlp_only_layers']));
  });
});

describe('positions', () => {
  const qwen = { model_type: 'qwen3_5_text', num_hidden_layers: 4, head_dim: 32 };
  const olmo = { model_type: 'olmo_hybrid', num_hidden_layers: 2, hidden_size: 64, num_attention_heads: 4 };
  const tables = (raw: Config) => planOf(raw).plan.ropeTables;

  it('a quarter of each head turns unless the file says otherwise, wherever it says so', () => {
    const settings = { rope_type: 'default', rope_theta: 1e6 };
    expect(tables({ ...qwen, rope_parameters: settings })).toEqual({ main: { type: 'default', theta: 1e6, dims: 8 } });
    for (const raw of [
      { rope_parameters: { ...settings, partial_rotary_factor: 0.5 } },
      { rope_parameters: settings, partial_rotary_factor: 0.5 },
      { rope_theta: 1e6, partial_rotary_factor: 0.5, rope_scaling: null },
    ])
      expect(tables({ ...qwen, ...raw })).toEqual({ main: { type: 'default', theta: 1e6, dims: 16 } });
  });

  it('how the positions of an image are spread over a head is of no account in text', () => {
    const mrope = { mrope_section: [2, 1, 1], mrope_interleaved: true };
    const { plan, audit } = planOf({ ...qwen, rope_parameters: { rope_type: 'default', rope_theta: 1e4, ...mrope } });
    expect(plan).toEqual(planOf(qwen).plan);
    expect(audit.inert).toContainEqual({
      key: 'rope_parameters.mrope_section',
      reason: 'the three positions of a token of text are the same',
    });
  });

  it.each([
    [{ rope_theta: null }],
    [{ rope_theta: null, rope_scaling: null }],
    [{ rope_parameters: { rope_theta: null, rope_type: 'default' } }],
  ])('olmo_hybrid has none where theta is null: %j', (raw) => {
    const { plan, audit } = planOf({ ...olmo, ...raw });
    expect(plan.ropeTables).toEqual({});
    expect(plan.layers[1]!.ops[0]!.options).toMatchObject({ positions: { kind: 'none' } });
    expect(audit.refused).toEqual([]);
  });

  it.each([
    [{ rope_parameters: null }, 'is no positions to one release'],
    [{ rope_theta: 1e4, rope_parameters: { rope_theta: null, rope_type: 'default' } }, 'and null in another'],
    [{ rope_parameters: { rope_theta: null, rope_type: 'yarn', factor: 4 } }, 'rope_parameters.factor'],
  ])('olmo_hybrid refuses what says both: %j', (raw, message) => {
    expect(() => planOf({ ...olmo, ...raw })).toThrow(message);
  });
});

describe('a wrapper of text and images', () => {
  const text = { model_type: 'qwen3_5_text', num_hidden_layers: 4, tie_word_embeddings: true };
  const wrapper = (more: Config = {}) => ({
    model_type: 'qwen3_5',
    text_config: text,
    vision_config: { depth: 27, model_type: 'qwen3_5' },
    image_token_id: 1,
    ...more,
  });

  it('is planned as its text model', () => {
    const { plan } = planOf(wrapper({ tie_word_embeddings: true }));
    expect({ ...plan, modelType: 'qwen3_5_text' }).toEqual(planOf(text).plan);
  });

  it('ties the head as it says itself, not as its text model does', () => {
    expect(planOf(wrapper()).plan.head.tied).toBe(false);
    expect(planOf(wrapper({ tie_word_embeddings: true })).plan.head.tied).toBe(true);
  });

  it('is refused with a key of its own that is not known', () => {
    expect(() => planOf(wrapper({ audio_config: {} }))).toThrow('audio_config');
  });
});

describe('what the published code has no form of is refused', () => {
  it.each([
    ['qwen3_next', { attn_output_gate: false }, 'attn_output_gate'],
    ['qwen3_next', { output_gate_type: 'sigmoid' }, 'output_gate_type'],
    ['qwen3_5_text', { output_gate_type: 'sigmoid' }, 'output_gate_type'],
    ['qwen3_5_text', { mlp_only_layers: [1] }, 'mlp_only_layers'],
    ['qwen3_5_text', { num_experts: 8 }, 'num_experts'],
    ['qwen3_5_moe_text', { norm_topk_prob: false }, 'norm_topk_prob'],
    ['qwen3_5_moe_text', { decoder_sparse_step: 2 }, 'decoder_sparse_step'],
    ['qwen3_5_moe_text', { num_experts: 4, num_experts_per_tok: 5 }, 'num_experts_per_tok'],
    ['qwen3_next', { linear_num_value_heads: 24 }, 'no multiple of'],
    ['qwen3_next', { linear_conv_kernel_dim: 1 }, 'linear_conv_kernel_dim'],
    ['qwen3_next', { layer_types: ['linear_attention'] }, 'does not name each of the 48 layers'],
    ['qwen3_next', { layer_types: Array(48).fill('sliding_attention') }, 'layer_types'],
    ['olmo_hybrid', { full_attention_interval: 4 }, 'full_attention_interval'],
    ['olmo_hybrid', { layer_types: Array(32).fill('linear_attention') }, 'has one kind of layer only'],
    ['olmo_hybrid', { partial_rotary_factor: 0.5 }, 'partial_rotary_factor'],
  ])('%s with %j', (type, raw, message) => {
    expect(() => planOf({ model_type: type, ...raw })).toThrow(message);
  });
});
