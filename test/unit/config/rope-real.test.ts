/** Every published config with rotary keys: the same tables as transformers, or refused for a reason that is written here. */
import { readdirSync, readFileSync } from 'node:fs';
import { ropeOf, ropeTablesOf, type NamedRope, type RopeOptions } from '@kvad/core/plugin';
import { describe, expect, it } from 'vitest';

type Json = Readonly<Record<string, unknown>>;
interface Real {
  readonly file: string;
  readonly modelType: string;
  readonly under: string;
  readonly tables: Readonly<Record<string, Json>>;
}
const fixtures = new URL('../../fixtures/', import.meta.url);
const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, fixtures), 'utf8'));
const { real } = readJson('rope-config/expected.json') as { real: readonly Real[] };

/** Types whose family makes its tables out of more than these keys. */
const OF_THEIR_FAMILY: Readonly<Record<string, string>> = {
  deepseek_v4: 'makes two tables of one dictionary',
  nemotron_h: 'does not rotate at all',
  kimi_linear: 'does not rotate at all',
  apertus: 'has a whole dictionary as the default of its class',
};
/** What families say of their tables, where it is not the plain case. */
const FLAT: Readonly<Record<string, (config: Json) => Partial<RopeOptions>>> = {
  minimax_m2: () => ({ partial: 0.5 }),
  mistral4: ({ qk_nope_head_dim: nope, qk_rope_head_dim: turned }) => ({
    headDim: Number(nope) + Number(turned),
    partial: Number(turned) / (Number(nope) + Number(turned)),
  }),
  nemotron: () => ({ partial: 0.5 }),
  phi: () => ({ partial: 0.5 }),
};
const NAMED: Readonly<Record<string, (config: Json, headDim: number) => Record<string, NamedRope>>> = {
  gemma3_text: ({ head_dim: headDim = 256 }) => ({
    full_attention: { headDim: Number(headDim), scaled: true, defaultTheta: 1e6 },
    sliding_attention: { headDim: Number(headDim), defaultTheta: 1e4, keys: { theta: ['rope_local_base_freq'] } },
  }),
  gemma4_text: ({ global_head_dim: globalHeadDim }, headDim) => ({
    full_attention: { headDim: Number(globalHeadDim) },
    sliding_attention: { headDim },
  }),
  laguna: (_, headDim) => ({
    full_attention: { headDim, partial: true },
    sliding_attention: { headDim, partial: true },
  }),
  olmo3: (_, headDim) => ({
    full_attention: { headDim, scaled: true, defaultTheta: 5e5 },
    sliding_attention: { headDim, defaultTheta: 5e5 },
  }),
};

const headDimOf = (config: Json): number =>
  Number(
    config['qk_rope_head_dim'] ??
      config['head_dim'] ??
      Number(config['hidden_size']) / Number(config['num_attention_heads']),
  );

const tablesOf = ({ modelType, under, file, tables }: Real): Readonly<Record<string, unknown>> => {
  const raw = readJson(`configs/${file}`) as Json;
  const config = under === '' ? raw : (raw[under] as Json);
  const headDim = headDimOf(config);
  const named = NAMED[modelType];
  if (named !== undefined) return ropeTablesOf(config, named(config, headDim));
  const partial = tables['']?.['partial'] !== undefined;
  return { '': ropeOf(config, { headDim, partial, ...FLAT[modelType]?.(config) }) };
};

describe('a published config', () => {
  const ordinary = real.filter(({ modelType }) => !Object.hasOwn(OF_THEIR_FAMILY, modelType));

  it('is there in numbers', () => expect(ordinary.length).toBeGreaterThan(100));

  it.each(ordinary)('$file', (expected) => {
    const ours = tablesOf(expected);
    expect(Object.keys(ours).sort()).toEqual(Object.keys(expected.tables).sort());
    for (const [name, { partial: _, attentionFactor, ...same }] of Object.entries(expected.tables)) {
      expect(ours[name]).toMatchObject(same);
      const table = ours[name] as { attentionFactor?: number; shortScale?: number };
      expect(table.attentionFactor ?? table.shortScale).toEqual(
        attentionFactor === undefined ? undefined : expect.closeTo(attentionFactor as number, 12),
      );
    }
  });
});

describe('a config of a class that transformers does not have', () => {
  const known = new Set(real.map(({ file }) => file));
  const KEYS = ['rope_theta', 'rope_scaling', 'rope_parameters'];
  const others = readdirSync(new URL('configs/', fixtures))
    .filter((file) => file.endsWith('.json') && file !== 'index.json' && !known.has(file))
    .filter((file) => KEYS.some((key) => key in (readJson(`configs/${file}`) as Json)));

  it('makes a table, or is refused for one of these reasons', () => {
    const refused: Record<string, string> = {};
    for (const file of others) {
      const config = readJson(`configs/${file}`) as Json;
      try {
        ropeOf(config, { headDim: headDimOf(config), partial: true });
      } catch (error) {
        refused[file] = (error as { key: string }).key;
      }
    }
    expect(refused).toEqual({
      // Names of one family, which says so by `aliases`.
      'Qwen--Qwen2.5-VL-7B-Instruct.json': 'rope_scaling.type',
      'microsoft--Phi-3-vision-128k-instruct.json': 'rope_scaling.type',
    });
  });
});
