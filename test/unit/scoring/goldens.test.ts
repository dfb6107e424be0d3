import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runGoldens } from '../../../cli/dist/goldens/kinds.js';
import { scoringGoldens } from '../../../cli/dist/goldens/scoring.js';
import { scoringFolder } from './scoring-goldens.js';

/** Seconds of arithmetic: many more where other processes take the machine. */
vi.setConfig({ testTimeout: 180_000 });

const folder = scoringFolder();

/** Values that each file holds, of all windows. `npm run goldens` is this with all windows of all files. */
const FILES = [
  ['expected-chunks.json', 450],
  ['expected-bos.json', 252],
  ['expected-sliding.json', 492],
  ['expected-kld.json', 101],
  ['expected-kld-topk.json', 24],
] as const;

describe('kvad equals llama-perplexity, with f32 weights and cache', () => {
  it.each(FILES)('%s: %i values, native', async (file, cases) => {
    const report = await scoringGoldens(folder, { files: [file], engine: { env: {} } });
    expect(report).toMatchObject({ object: 'kvad.goldens', kind: 'scoring', failures: [], cases, equal: cases });
    expect(report.max_rel ?? 0).toBeLessThan(1e-4);
  });

  it('expected-chunks-bundled.json: six windows of each ctx, native', async () => {
    const report = await scoringGoldens(folder, {
      files: ['expected-chunks-bundled.json'],
      windows: 6,
      engine: { env: {} },
    });
    expect(report).toMatchObject({ failures: [], cases: 49, equal: 49 });
  });

  it.each([
    ['expected-chunks.json', 25],
    ['expected-bos.json', 9],
    ['expected-sliding.json', 7],
    ['expected-chunks-bundled.json', 25],
    ['expected-kld.json', 101],
    ['expected-kld-topk.json', 24],
  ])('%s: the first windows, %i values, with the reference arithmetic', async (file, cases) => {
    const engine = { env: { KVAD_CPU: 'reference' } };
    const report = await scoringGoldens(folder, { files: [file], windows: 2, engine });
    expect(report).toMatchObject({ failures: [], cases, equal: cases });
  });
});

describe('a folder of goldens', () => {
  const spoilt = (name: string, content: unknown): string => {
    const dir = path.join(path.dirname(folder), `spoilt-${name}`);
    mkdirSync(dir);
    for (const each of ['model', 'text.txt'])
      cpSync(path.join(folder, each), path.join(dir, each), { recursive: true });
    writeFileSync(
      path.join(dir, 'expected-chunks.json'),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
    return dir;
  };
  const chunks = (): { runs: { windows: { nll_sum: number }[]; token_ids_sha256: string }[] } =>
    JSON.parse(readFileSync(path.join(folder, 'expected-chunks.json'), 'utf8')) as ReturnType<typeof chunks>;

  it('that expects something else is reported as different, value by value', async () => {
    const expected = chunks();
    expected.runs[0]!.token_ids_sha256 = 'of other ids';
    expected.runs[0]!.windows[1]!.nll_sum *= 1.0002;
    const report = await scoringGoldens(spoilt('values', expected), { windows: 2, engine: { env: {} } });
    expect(report).toMatchObject({ cases: 25, equal: 23, different: 2 });
    expect(report.failures.map(({ id }) => id)).toEqual([
      'expected-chunks.json chunks 128 token_ids_sha256',
      'expected-chunks.json chunks 128 window 1 nll_sum',
    ]);
    expect(report.max_rel).toBeCloseTo(2e-4, 6);
  });

  it('whose model is not there is a refusal, not a crash', async () => {
    const report = await scoringGoldens(spoilt('weights', { ...chunks(), weights: 'nowhere/' }));
    expect(report).toMatchObject({ equal: 0, refused_only_here: 1 });
    expect(report.failures.at(-1)?.got).toContain('nowhere');
  });

  it.each([
    ['broken', '{ "kind": '],
    ['other', { kind: 'templates', cases: [] }],
  ])('of no kind that is known is refused with a sentence: %s', async (name, content) => {
    const dir = spoilt(name, content);
    await expect(runGoldens(dir)).rejects.toThrow(`${dir} is no folder of goldens: it is like none of `);
  });

  it('that is not there is refused with a sentence', async () => {
    const absent = path.join(folder, 'absent');
    await expect(runGoldens(absent)).rejects.toThrow(`${absent} is no folder`);
  });
});
