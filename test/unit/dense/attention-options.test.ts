import {
  activationOf,
  biases,
  causal,
  decoder,
  ends,
  from,
  gateUpDown,
  inLayer,
  noPositions,
  norms,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  sandwich,
  separateQKV,
  standardDecoder,
  withPrefixes,
  type OpChoice,
  type WeightRule,
} from '@kvad/core/plugin';
import { compareWithReference, readReference } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { openHandMade, type HandMade } from './hand-made.js';

/**
 * Options of the attention mixer whose published families also have experts or belong to other plugins: here their
 * dense layers, against transformers. The options that families of this plugin use are proved by those families.
 */
const model = { vocabSize: 64, hiddenSize: 48, contextLength: 128 };
const heads = { heads: 4, kvHeads: 2, headDim: 16, valueDim: 16, scale: 0.25, bias: biases({ qkv: false, o: false }) };
const table = (theta: number, dims = 16) => ({ type: 'default' as const, theta, dims });
const ffn: OpChoice = { kind: 'glu', activation: activationOf('silu'), size: 80, bias: false };
const norm = rms(1e-5);
const named = (...rules: readonly WeightRule[]): WeightRule[] => withPrefixes(['model.'], rules);

const CASES: Readonly<Record<string, HandMade>> = {
  'a sigmoid gate on each element of the output': {
    fixture: 'options/afmoe_dense',
    plan: decoder({
      ...model,
      layerCount: 4,
      embedding: { scale: Math.sqrt(48) },
      layer: (i) =>
        sandwich(norm, {
          mixer: {
            kind: 'attention',
            ...heads,
            qkNorm: qkRms({ eps: 1e-5 }),
            positions: i === 3 ? noPositions : rope('main'),
            mask: causal(i === 3 ? null : 7),
            outGate: 'sigmoid',
          },
          ffn,
        }),
      rope: { main: table(10_000) },
      finalNorm: norm,
      head: { tied: false },
    }),
    rules: named(
      ...ends(),
      ...norms({
        'mixer.norm.before': 'input_layernorm',
        'mixer.norm.after': 'post_attention_layernorm',
        'ffn.norm.before': 'pre_mlp_layernorm',
        'ffn.norm.after': 'post_mlp_layernorm',
      }),
      ...separateQKV(),
      ...qkNorms(),
      ...inLayer('mixer.gate', 'self_attn.gate_proj'),
      ...gateUpDown(),
    ),
  },

  'a softplus gate on each head, and head counts that differ by layer': {
    fixture: 'options/laguna_dense',
    plan: decoder({
      ...model,
      layerCount: 2,
      layer: (i) =>
        pre(rms(1e-6), {
          mixer: {
            kind: 'attention',
            ...heads,
            heads: i === 0 ? 4 : 6,
            qkNorm: qkRms({ eps: 1e-6 }),
            positions: rope(i === 0 ? 'full' : 'sliding'),
            mask: causal(i === 0 ? null : 7),
            outGate: 'softplus-per-head',
          },
          ffn,
        }),
      rope: { full: table(500_000, 8), sliding: table(10_000) },
      finalNorm: rms(1e-6),
      head: { tied: false },
    }),
    rules: named(
      ...standardDecoder(),
      ...separateQKV(),
      ...qkNorms(),
      ...inLayer('mixer.gate', 'self_attn.g_proj'),
      ...gateUpDown(),
    ),
  },

  'a softplus gate on each element of the output': {
    fixture: 'options/laguna_dense_elementwise',
    plan: decoder({
      ...model,
      layerCount: 2,
      layer: () =>
        pre(rms(1e-6), {
          mixer: {
            kind: 'attention',
            ...heads,
            qkNorm: qkRms({ eps: 1e-6 }),
            positions: rope('main'),
            mask: causal(),
            outGate: 'softplus',
          },
          ffn,
        }),
      rope: { main: table(500_000, 8) },
      finalNorm: rms(1e-6),
      head: { tied: false },
    }),
    rules: named(
      ...standardDecoder(),
      ...separateQKV(),
      ...qkNorms(),
      ...inLayer('mixer.gate', 'self_attn.g_proj'),
      ...gateUpDown(),
    ),
  },

  'chunks, weightless norms after rotation, and queries scaled by the next position': {
    fixture: 'options/llama4_dense',
    plan: decoder({
      ...model,
      layerCount: 4,
      layer: (i) =>
        pre(norm, {
          mixer:
            i === 3
              ? {
                  kind: 'attention',
                  ...heads,
                  positions: noPositions,
                  mask: causal(),
                  queryScale: { kind: 'next-position', strength: 0.4, every: 5 },
                }
              : {
                  kind: 'attention',
                  ...heads,
                  qkNorm: qkRms({ eps: 1e-5, weight: false, when: 'after-rope' }),
                  positions: rope('main', 'interleaved'),
                  mask: { kind: 'chunk', size: 7 },
                },
          ffn,
        }),
      rope: { main: table(500_000) },
      finalNorm: norm,
      head: { tied: false },
    }),
    rules: named(...standardDecoder(), ...separateQKV(), ...gateUpDown('feed_forward.')),
  },

  'sinks, scaled values, and values narrower than keys': {
    fixture: 'options/mimo_dense',
    plan: decoder({
      ...model,
      layerCount: 2,
      layer: (i) =>
        pre(norm, {
          mixer: {
            kind: 'attention',
            ...heads,
            kvHeads: i === 0 ? 2 : 4,
            headDim: 24,
            scale: 24 ** -0.5,
            positions: rope(i === 0 ? 'full' : 'sliding'),
            mask: causal(i === 0 ? null : 7),
            valueScale: 0.707,
            ...(i === 0 ? {} : { sinks: 'per-head' }),
          },
          ffn,
        }),
      rope: { full: table(5_000_000, 8), sliding: table(10_000, 8) },
      finalNorm: norm,
      head: { tied: false },
    }),
    rules: named(
      ...standardDecoder(),
      ...separateQKV(),
      from('layers.{layer}.mixer.sinks', '{prefix}layers.{layer}.self_attn.attention_sink_bias'),
      ...gateUpDown(),
    ),
  },
};

describe('options of attention, against transformers', () => {
  it.each(Object.entries(CASES))('%s', async (_, handMade) => {
    const { model: opened, directory } = openHandMade(handMade);
    const reference = readReference(directory);
    const { comparison, greedyEqual } = await compareWithReference(opened, reference, directory);
    expect(comparison.maxAbsDiff).toBeLessThanOrEqual(reference.facts.tolerance);
    expect(greedyEqual).toBe(true);
  });
});
