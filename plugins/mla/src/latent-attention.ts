/** Words that the families of latent attention share: the mixer out of their config keys, and where its tensors lie. */
import {
  inLayer,
  refuseConfig,
  rms,
  ropeParameter,
  from,
  type RopeTablePlan,
  type SlotRule,
  type Transform,
} from '@kvad/core/plugin';

export interface LatentKeys {
  readonly num_attention_heads: number;
  readonly num_key_value_heads?: number | null;
  readonly qk_nope_head_dim: number;
  readonly qk_rope_head_dim: number;
  readonly v_head_dim: number;
  readonly kv_lora_rank: number;
  readonly q_lora_rank: number | null;
  readonly attention_bias: boolean;
}

/** The published modules make the norms of latents with this epsilon, whatever `rms_norm_eps` says. */
const LATENT_EPS = 1e-6;

/**
 * The mixer of a config. Scores are multiplied with `(nope + rope) ** -0.5`, and with the square of YaRN's factor
 * where `mscale_all_dim` asks for it.
 */
export const latentAttention = (c: LatentKeys, table: RopeTablePlan, layout: 'half' | 'interleaved') => {
  const heads = c.num_attention_heads;
  const kvHeads = c.num_key_value_heads ?? heads;
  if (kvHeads !== heads) refuseConfig('num_key_value_heads', kvHeads, `is not "num_attention_heads": ${heads}`);
  return {
    kind: 'mla',
    heads,
    nopeDim: c.qk_nope_head_dim,
    ropeDim: c.qk_rope_head_dim,
    valueDim: c.v_head_dim,
    latent: c.kv_lora_rank,
    latentNorm: rms(LATENT_EPS),
    query: c.q_lora_rank === null ? { from: 'x' } : { from: 'latent', latent: c.q_lora_rank, norm: rms(LATENT_EPS) },
    bias: c.attention_bias,
    rope: { table: 'main', layout },
    scale: (c.qk_nope_head_dim + c.qk_rope_head_dim) ** -0.5 * scoreFactor(c, table),
  };
};

const scoreFactor = (config: object, table: RopeTablePlan): number => {
  if (table.type === 'default') return 1;
  const allDim = ropeParameter(config, 'mscale_all_dim');
  if (allDim === undefined || allDim === 0) return 1;
  const factor = 'factor' in table ? table.factor : refuseConfig('mscale_all_dim', allDim, `has no factor to scale by`);
  return factor <= 1 ? 1 : (0.1 * allDim * Math.log(factor) + 1) ** 2;
};

/**
 * `q_proj`, or `q_a_proj`, `q_a_layernorm` and `q_b_proj`; `kv_a_proj_with_mqa`, `kv_a_layernorm`, `kv_b_proj`, `o_proj`.
 * Rows of the query are cut per head into still and turning ones, those of `kv_b_proj` into keys and values.
 */
export const latentNames = (c: LatentKeys, module = 'self_attn.'): SlotRule[] => {
  const { num_attention_heads: heads, qk_nope_head_dim: nope, qk_rope_head_dim: rope, v_head_dim: value } = c;
  const latent = c.kv_lora_rank;
  const perHead = (size: number, start: number, count: number): Transform => ({
    op: 'perGroup',
    groups: heads,
    size,
    start,
    count,
  });
  const rows = (start: number, count: number): Transform => ({ op: 'rows', start, count });
  const query = c.q_lora_rank === null ? 'q_proj' : 'q_b_proj';
  const kvUp = `{prefix}layers.{layer}.${module}kv_b_proj.weight`;
  return [
    ...inLayer('mixer.qDown', `${module}q_a_proj`),
    ...inLayer('mixer.qNorm', `${module}q_a_layernorm`),
    ...inLayer('mixer.qNope', `${module}${query}`, {}, perHead(nope + rope, 0, nope)),
    ...inLayer('mixer.qRope', `${module}${query}`, {}, perHead(nope + rope, nope, rope)),
    ...inLayer('mixer.latent', `${module}kv_a_proj_with_mqa`, {}, rows(0, latent)),
    ...inLayer('mixer.kRope', `${module}kv_a_proj_with_mqa`, {}, rows(latent, rope)),
    ...inLayer('mixer.latentNorm', `${module}kv_a_layernorm`),
    from('layers.{layer}.mixer.keyUp.weight', kvUp, perHead(nope + value, 0, nope), reshaped(heads, nope, latent), {
      op: 'transposeLast',
    }),
    from(
      'layers.{layer}.mixer.valueUp.weight',
      kvUp,
      perHead(nope + value, nope, value),
      reshaped(heads, value, latent),
    ),
    ...inLayer('mixer.o', `${module}o_proj`),
  ];
};

const reshaped = (...shape: readonly number[]): Transform => ({ op: 'reshape', shape });
