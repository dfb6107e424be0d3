import { readFileSync } from 'node:fs';
import { ropeOf, ropeParameter, ropeTablesOf, type RopeOptions } from '@kvad/core/plugin';
import { describe, expect, it } from 'vitest';

interface Made {
  readonly name: string;
  readonly config: object;
  readonly table: Record<string, number | string>;
}
const { made } = JSON.parse(
  readFileSync(new URL('../../fixtures/rope-config/expected.json', import.meta.url), 'utf8'),
) as { made: readonly Made[] };

const BASE = { max_position_embeddings: 256 };
const YARN = { type: 'yarn', factor: 8, original_max_position_embeddings: 32 };
const LONG = { rope_type: 'longrope', short_factor: Array(8).fill(1), long_factor: Array(8).fill(4) };
const rope = (config: object, options: Partial<RopeOptions> = {}): ReturnType<typeof ropeOf> =>
  ropeOf({ ...BASE, ...config }, { headDim: 16, ...options });

const refusal = (key: string, reason: RegExp): unknown =>
  expect.objectContaining({ $$type: 'kvad.config-refusal', key, reason: expect.stringMatching(reason) as string });
const conflict = (...keys: string[]): unknown =>
  expect.objectContaining({ code: 'KVAD_E_CONFIG_CONFLICT', params: expect.objectContaining({ keys }) as object });

describe('a rotary table is what transformers makes of the same keys', () => {
  it.each(made)('$name', ({ config, table }) => {
    const { partial = false, attentionFactor, ...same } = table;
    const ours = ropeOf(config, { headDim: 16, partial: partial !== false });
    if (ours.type === 'longrope') delete same['factor']; // it has become the scales
    expect(ours).toMatchObject(same);
    if (attentionFactor === undefined) return;
    const scales =
      ours.type === 'longrope' ? [ours.shortScale, ours.longScale] : ours.type === 'yarn' ? [ours.attentionFactor] : [];
    expect(scales.length).toBeGreaterThan(0);
    for (const scale of scales) expect(scale).toBeCloseTo(attentionFactor as number, 14);
  });

  it('of the two ways to leave half a head alone, each is its own', () => {
    expect(rope({ partial_rotary_factor: 0.4 }, { headDim: 20, partial: true })).toMatchObject({
      type: 'default',
      dims: 8,
    });
    const proportional = { rope_parameters: { rope_type: 'proportional', partial_rotary_factor: 0.4 } };
    expect(rope(proportional, { headDim: 20 })).toMatchObject({
      type: 'proportional',
      dims: 20,
      rotated: 8,
      factor: 1,
    });
  });

  it('has every number of yarn', () => {
    expect(rope({ rope_scaling: { ...YARN, beta_fast: 16, beta_slow: 2, truncate: false } })).toEqual({
      type: 'yarn',
      theta: 10000,
      dims: 16,
      factor: 8,
      originalContext: 32,
      betaFast: 16,
      betaSlow: 2,
      attentionFactor: 0.1 * Math.log(8) + 1,
      truncate: false,
    });
    expect(rope({ rope_scaling: YARN })).toMatchObject({ betaFast: 32, betaSlow: 1, truncate: true });
  });

  it('has a fixed alpha, or the mscales of the config, where the family knows them', () => {
    const alpha = { rope_scaling: { type: 'dynamic', factor: 1, alpha: 1000 } };
    expect(rope(alpha, { alpha: true })).toMatchObject({ originalContext: 256, alpha: 1000 });
    expect(rope(alpha)).toMatchObject({ alpha: null });
    const published = { ...alpha.rope_scaling, beta_fast: 32, beta_slow: 1, mscale: 1, mscale_all_dim: 1 };
    expect(rope({ rope_scaling: published }, { alpha: true })).toEqual(rope(alpha, { alpha: true }));
    const long = { rope_scaling: { ...LONG, short_mscale: 1.1, long_mscale: 1.3 } };
    expect(rope(long, { mscales: true })).toMatchObject({ shortScale: 1.1, longScale: 1.3 });
  });
});

describe('theta', () => {
  it('is the default of the family, then of the published base class', () => {
    expect(rope({}, { defaultTheta: 1e6 }).theta).toBe(1e6);
    expect(rope({}).theta).toBe(10000);
  });
  it('stands under the name that the family gives', () => {
    expect(rope({ rotary_emb_base: 5 }, { keys: { theta: ['rotary_emb_base'] } }).theta).toBe(5);
  });
  it.each([0, -1, '10000'])('%j is refused', (theta) => {
    expect(() => rope({ rope_theta: theta })).toThrow(refusal('rope_theta', /not a positive number/));
  });
});

describe('two homes that disagree', () => {
  it.each<[string, object, string[]]>([
    ['theta', { rope_theta: 1e4, rope_parameters: { rope_theta: 1e6 } }, ['rope_parameters.rope_theta', 'rope_theta']],
    [
      'the type, in one dictionary',
      { rope_scaling: { type: 'linear', rope_type: 'yarn', factor: 2 } },
      ['rope_scaling.rope_type', 'rope_scaling.type'],
    ],
    [
      'the type, in two dictionaries',
      { rope_scaling: { ...YARN }, rope_parameters: { rope_type: 'default' } },
      ['rope_scaling.type', 'rope_parameters.rope_type'],
    ],
    [
      'a factor',
      { rope_scaling: { type: 'linear', factor: 2 }, rope_parameters: { rope_type: 'linear', factor: 4 } },
      ['rope_scaling.factor', 'rope_parameters.factor'],
    ],
    [
      'the original context',
      { rope_scaling: YARN, original_max_position_embeddings: 64 },
      ['rope_scaling.original_max_position_embeddings', 'original_max_position_embeddings'],
    ],
    [
      'theta in the dictionary that is replaced',
      { rope_scaling: { type: 'linear', factor: 2 }, rope_parameters: { rope_theta: 1e6 } },
      ['rope_parameters.rope_theta', 'rope_scaling'],
    ],
  ])('%s', (_, config, keys) => {
    expect(() => rope(config)).toThrow(conflict(...keys));
  });

  it('and two that agree are no matter', () => {
    const same = { rope_type: 'linear', factor: 2, rope_theta: 5 };
    expect(rope({ rope_theta: 5, rope_scaling: { type: 'linear', factor: 2 }, rope_parameters: same })).toMatchObject({
      theta: 5,
      factor: 2,
    });
  });

  it('of a partial factor, where the family plans one', () => {
    const config = { partial_rotary_factor: 0.5, rope_parameters: { partial_rotary_factor: 0.25 } };
    expect(() => rope(config, { partial: true })).toThrow(
      conflict('rope_parameters.partial_rotary_factor', 'partial_rotary_factor'),
    );
  });
});

describe('settings that make no table are refused', () => {
  it.each<[string, object, Partial<RopeOptions>, string, RegExp]>([
    [
      'an unknown type',
      { rope_scaling: { type: 'mrope' } },
      {},
      'rope_scaling.type',
      /none of .*default, linear, dynamic, yarn/,
    ],
    [
      'a type that the family does not plan',
      { rope_scaling: YARN },
      { types: ['default', 'linear'] },
      'rope_scaling.type',
      /: default, linear$/,
    ],
    ['no factor', { rope_scaling: { type: 'linear' } }, {}, 'rope_scaling.factor', /needed by a linear/],
    [
      'a factor that is no number',
      { rope_scaling: { type: 'linear', factor: '2' } },
      {},
      'rope_scaling.factor',
      /not a positive/,
    ],
    [
      'too few factors',
      { rope_scaling: { ...LONG, short_factor: [1] } },
      {},
      'rope_scaling.short_factor',
      /1 numbers, and 8 pairs/,
    ],
    [
      'a factor of nothing',
      { rope_scaling: { ...LONG, long_factor: Array(8).fill(0) } },
      {},
      'rope_scaling.long_factor',
      /list of positive/,
    ],
    ['no dictionary', { rope_scaling: 'yarn' }, {}, 'rope_scaling', /not an object/],
    [
      'half a column',
      { partial_rotary_factor: 0.3 },
      { partial: true, headDim: 10 },
      'partial_rotary_factor',
      /rotates 3 of 10/,
    ],
    ['more than a head', { partial_rotary_factor: 1.5 }, { partial: true }, 'partial_rotary_factor', /between 0 and 1/],
    [
      'no context',
      { rope_scaling: { type: 'dynamic', factor: 2 }, max_position_embeddings: 0 },
      {},
      'max_position_embeddings',
      /number of positions/,
    ],
  ])('%s', (_, config, options, key, reason) => {
    expect(() => rope(config, options)).toThrow(refusal(key, reason));
  });

  it('but other names of a type are taken where the family knows them', () => {
    expect(rope({ rope_scaling: { type: 'mrope' } }, { aliases: { mrope: 'default' } })).toMatchObject({
      type: 'default',
    });
    const both = { type: 'mrope', rope_type: 'default' };
    expect(rope({ rope_scaling: both }, { aliases: { mrope: 'default' } })).toMatchObject({ type: 'default' });
  });
});

describe('a number of the family among the settings', () => {
  it.each(['rope_scaling', 'rope_parameters'])('is found in %s', (home) => {
    expect(ropeParameter({ [home]: { mscale_all_dim: 0.7 } }, 'mscale_all_dim')).toBe(0.7);
  });
  it('may be absent', () => expect(ropeParameter({}, 'mscale_all_dim')).toBeUndefined());
});

describe('a table for each type of layer', () => {
  const tables = {
    full: { headDim: 16, defaultTheta: 1e6, scaled: true },
    sliding: { headDim: 8, defaultTheta: 1e4, keys: { theta: ['rope_local_base_freq'] } },
  };
  const of = (config: object): unknown => ropeTablesOf({ ...BASE, ...config }, tables);

  it('has its own settings and its own default', () => {
    expect(of({ rope_parameters: { full: { ...YARN, rope_theta: 5 } } })).toMatchObject({
      full: { type: 'yarn', theta: 5, dims: 16 },
      sliding: { type: 'default', theta: 1e4, dims: 8 },
    });
  });
  it('in old files has a theta of its own, and scaling where it is meant', () => {
    const old = { rope_theta: 7, rope_local_base_freq: 3, rope_scaling: { rope_type: 'linear', factor: 8 } };
    expect(of(old)).toEqual({
      full: { type: 'linear', theta: 7, dims: 16, factor: 8 },
      sliding: { type: 'default', theta: 3, dims: 8 },
    });
  });
  it('is null where the file says so: those layers do not rotate', () => {
    expect(of({ rope_parameters: { sliding: null } })).toMatchObject({ full: { type: 'default' }, sliding: null });
  });
  it('refuses a truncate that the published implementation would not see', () => {
    expect(() => of({ rope_parameters: { full: { ...YARN, truncate: false } } })).toThrow(
      refusal('rope_parameters.full.truncate', /not looked for/),
    );
  });
  it('refuses a type under its old name, which published releases read differently', () => {
    expect(() => of({ rope_scaling: { type: 'linear', factor: 8 } })).toThrow(
      refusal('rope_scaling.type', /some releases/),
    );
    expect(of({ rope_scaling: { type: 'linear', rope_type: 'linear', factor: 8 } })).toMatchObject({
      full: { type: 'linear' },
    });
  });
  it('refuses a theta outside for a table that not every release uses it for', () => {
    const tables = { full: { headDim: 16, scaled: true }, sliding: { headDim: 16, defaultTheta: 5e5 } };
    const thetas = (config: object): unknown => Object.values(ropeTablesOf({ ...BASE, ...config }, tables));
    expect(() => thetas({ rope_theta: 7 })).toThrow(refusal('rope_theta', /reaches rope_parameters\.sliding/));
    expect(thetas({ rope_theta: 5e5 })).toMatchObject([{ theta: 5e5 }, { theta: 5e5 }]);
    const both = { rope_theta: 7, rope_parameters: { sliding: { rope_theta: 7 } } };
    expect(thetas(both)).toMatchObject([{ theta: 7 }, { theta: 7 }]);
  });
  it('refuses old and new settings that disagree', () => {
    const config = {
      rope_scaling: { rope_type: 'linear', factor: 8 },
      rope_parameters: { full: { rope_type: 'default' } },
    };
    expect(() => of(config)).toThrow(conflict('rope_scaling.rope_type', 'rope_parameters.full.rope_type'));
  });
});
