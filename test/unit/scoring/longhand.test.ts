import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KldResult, PerplexityRequest } from 'kvad';
import { KLD_FIGURES } from '@kvad/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snakeCase } from '../../../cli/dist/commands/perplexity-report.js';
import { idsOf, VOCAB } from '../runtime/toy.js';
import { divergence, figures, rowsOf, type LonghandToken } from './longhand.js';
import { toyModels } from './toy-runs.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-longhand-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const models = toyModels({ base: {}, compared: { mixers: ['toy-memory', 'toy-attention'] } });
const ids = idsOf(150);
const REQUEST: PerplexityRequest = { input: { ids }, ctx: 16 };

/** By name, as they stand in the JSON. */
const named = (kld: KldResult): Record<string, number | null> =>
  Object.fromEntries(KLD_FIGURES.map((figure) => [snakeCase(figure), kld[figure]]));

const expectNear = (got: Readonly<Record<string, number | null>>, expected: typeof got, tolerance: number): void => {
  expect(Object.keys(got).sort()).toEqual(Object.keys(expected).sort());
  const apart = Object.entries(expected).filter(([name, value]) => {
    const other = got[name];
    if (value === null || other === null || other === undefined) return value !== other;
    return !(Math.abs(other - value) <= tolerance * Math.max(1, Math.abs(value)));
  });
  expect(apart.map(([name, value]) => `${name}: ${value} longhand, ${got[name]}`)).toEqual([]);
};

/** The base of `base` in a file, and `compared` held against it. */
const compare = async (output: Omit<NonNullable<PerplexityRequest['kldBaseOut']>, 'file'>): Promise<KldResult> => {
  const file = path.join(scratch, `${JSON.stringify(output).replaceAll(/\W/g, '')}.kld`);
  await models.base.perplexity({ ...REQUEST, kldBaseOut: { file, force: true, ...output } });
  return (await models.compared.perplexity({ ...REQUEST, kld: file })).kld!;
};

describe('each figure, longhand in double precision', () => {
  let tokens: LonghandToken[];
  beforeAll(async () => {
    tokens = [];
    for (let begin = 0; begin + 16 <= ids.length; begin += 16) {
      const window = { begin, end: begin + 16, firstTarget: begin + 9 };
      const [p, q] = [await rowsOf(models.base, ids, window), await rowsOf(models.compared, ids, window)];
      p.forEach((row, index) => tokens.push({ p: row, q: q[index]!, target: ids[window.firstTarget + index]! }));
    }
  });

  it('of a run', async () => {
    const result = await models.compared.perplexity(REQUEST);
    const {
      mean_nll: mean,
      mean_nll_uncertainty: error,
      perplexity,
      perplexity_uncertainty: pplError,
    } = figures(tokens, 1);
    const got = [result.meanNll, result.meanNllUncertainty, result.perplexity, result.perplexityUncertainty];
    [mean, error, perplexity, pplError].forEach((value, index) => expect(got[index]).toBeCloseTo(value!, 9));
    expect(result).toMatchObject({ tokens: 150, scoredTokens: 9 * 7, prefillTokens: 9 * 16 });
    for (const window of result.windows) {
      const own = tokens.slice(window.index * 7, window.index * 7 + 7).map(({ q, target }) => -q[target]!);
      const sum = own.reduce((total, nll) => total + nll, 0);
      expect(window.nllSum).toBeCloseTo(sum, 9);
      expect(window.meanNll).toBeCloseTo(sum / 7, 9);
      expect(window.perplexity).toBeCloseTo(Math.exp(sum / 7), 8);
    }
  });

  it.each([1, 8, VOCAB])('of a comparison with a base of the %i likeliest ids', async (k) => {
    expectNear(named(await compare({ topK: k })), figures(tokens, k), 1e-6);
  });

  it('of a comparison with a base of the whole vocabulary, within the rounding of its 16 bits', async () => {
    const { mean_base_top_mass: mass, ...others } = named(await compare({ format: 'full' }));
    expect(mass).toBeNull();
    const { mean_base_top_mass: one, ...longhand } = figures(tokens, VOCAB);
    expect(one).toBeCloseTo(1, 12);
    expectNear(others, longhand, 2e-4);
  });

  it('a coarsened divergence is no more than the whole one, and grows with k, at each token', () => {
    for (const token of tokens) {
      const whole = divergence(token, VOCAB);
      let before = 0;
      for (const k of [1, 2, 8, 31]) {
        const coarse = divergence(token, k);
        expect(coarse).toBeGreaterThanOrEqual(before - 1e-12);
        expect(coarse).toBeLessThanOrEqual(whole + 1e-12);
        before = coarse;
      }
    }
  });

  it('so are the means that a run gives', async () => {
    const means = [];
    for (const k of [1, 2, 8, VOCAB]) means.push((await compare({ topK: k })).meanKld!);
    expect(means).toEqual([...means].sort((a, b) => a - b));
    expect(means.at(-1)! - means[0]!).toBeGreaterThan(0.001);
  });
});

it.each([1, 8, 32])('a model against its own base of k = %i has no divergence', async (topK) => {
  const file = path.join(scratch, `self-${topK}.kld`);
  await models.base.perplexity({ ...REQUEST, kldBaseOut: { file, topK } });
  const kld = (await models.base.perplexity({ ...REQUEST, kld: file })).kld!;
  expect(Math.abs(kld.meanKld!)).toBeLessThan(1e-9);
  expect(kld).toMatchObject({ sameTop: 1, deltaPerplexity: 0, perplexityRatio: 1, meanLogRatio: 0, rmsDeltaP: 0 });
});

describe('a figure that is not defined is null', () => {
  it('of one scored token', async () => {
    const file = path.join(scratch, 'one.kld');
    const one: PerplexityRequest = { input: { ids: [1, 2] }, method: 'sliding', ctx: 2 };
    const { meanNllUncertainty, perplexityUncertainty, scoredTokens } = await models.base.perplexity({
      ...one,
      kldBaseOut: { file },
    });
    expect([scoredTokens, meanNllUncertainty, perplexityUncertainty]).toEqual([1, null, null]);
    const kld = (await models.compared.perplexity({ ...one, kld: file })).kld!;
    const undefinedOnes = KLD_FIGURES.filter((figure) => kld[figure] === null);
    expect(undefinedOnes).toEqual(
      [...KLD_FIGURES.filter((figure) => /Uncertainty$/.test(figure)), 'correlation'].sort(
        (a, b) => KLD_FIGURES.indexOf(a as never) - KLD_FIGURES.indexOf(b as never),
      ),
    );
    expect(kld.kldMax).toBe(kld.kldMin);
  });

  it('where the two models are one: nothing divides by 0, and no NaN is left', async () => {
    const file = path.join(scratch, 'same.kld');
    await models.base.perplexity({ ...REQUEST, kldBaseOut: { file } });
    const result = await models.base.perplexity({ ...REQUEST, kld: file });
    expect(result.kld!.rmsDeltaPUncertainty).toBeNull();
    for (const figure of KLD_FIGURES) expect(result.kld![figure] ?? 0).toSatisfy(Number.isFinite);
  });
});
