import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEngine, type PerplexityProgress } from 'kvad';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { idsOf, TOY_FOLDER, toyFolder } from '../runtime/toy.js';

const folder = toyFolder({ fault: 'slow' });
const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-queue-'));
afterAll(() => {
  for (const each of [folder, scratch]) rmSync(each, { recursive: true });
});

/** A model of which each forward takes 20 ms, and its run of so many windows, of which the first are done. */
const underWay = async (windows: number, signal?: AbortSignal) => {
  const engine = createEngine({ plugins: [TOY_FOLDER], env: {} });
  onTestFinished(() => engine.close());
  const model = await engine.load(folder, { kvCacheDtype: 'f32' });
  let last: PerplexityProgress | null = null;
  const run = model.perplexity(
    {
      input: { ids: idsOf(8 * windows) },
      ctx: 8,
      kldBaseOut: { file: path.join(scratch, 'aborted.kld'), force: true },
    },
    {
      ...(signal && { signal }),
      onProgress: (progress) => {
        last = progress;
      },
    },
  );
  const done = (): number => last?.windowsDone ?? 0;
  while (done() < 2) await Promise.race([run, new Promise((resolve) => setTimeout(resolve, 5))]);
  return { model, run, done };
};

it('a run gives way: while an answer is generated no window is begun', async () => {
  const { model, run, done } = await underWay(100);
  const session = await model.session();
  const during: number[] = [];
  for await (const event of session.generate({ ids: [1, 2, 3] }, { maxTokens: 12, temperature: 0 })) {
    if (event.type === 'token') during.push(done());
  }
  expect(during).toHaveLength(12);
  expect(during.at(-1)! - during[0]!).toBeLessThanOrEqual(1);
  expect(during.at(-1)).toBeLessThan(100);
  expect((await run).windows).toHaveLength(100);
});

it('two runs of a model take turns', async () => {
  const { model, run } = await underWay(30);
  const other = await model.perplexity({ input: { ids: idsOf(240) }, ctx: 8, chunks: 4 });
  const whole = await run;
  expect(other.windows.map(({ nllSum }) => nllSum)).toEqual(whole.windows.slice(0, 4).map(({ nllSum }) => nllSum));
});

describe('a run ends', () => {
  // Where this thread has to wait for a processor, the worker does some windows more; not so in every try.
  it('within a step of an abort, with the caller’s reason, and leaves no half base', { retry: 4 }, async () => {
    const controller = new AbortController();
    const { model, run, done } = await underWay(300, controller.signal);
    const reason = new Error('no longer wanted');
    const before = done();
    controller.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect(done() - before).toBeLessThanOrEqual(2);
    expect(existsSync(path.join(scratch, 'aborted.kld.partial'))).toBe(false);
    expect((await model.perplexity({ input: { ids: idsOf(20) }, ctx: 8 })).windows).toHaveLength(2);
  });

  it('when its model is closed', async () => {
    const { model, run } = await underWay(300);
    await Promise.all([model.close(), expect(run).rejects.toMatchObject({ code: 'KVAD_E_CLOSED' })]);
    await expect(model.perplexity({ input: { ids: [1, 2] } })).rejects.toMatchObject({ code: 'KVAD_E_CLOSED' });
  });
});

it('progress tells the estimate so far, the windows that are left, and the speed', async () => {
  const engine = createEngine({ plugins: [TOY_FOLDER], env: {} });
  onTestFinished(() => engine.close());
  const quick = toyFolder();
  onTestFinished(() => rmSync(quick, { recursive: true }));
  const model = await engine.load(quick, { kvCacheDtype: 'f32' });
  const seen: PerplexityProgress[] = [];
  const file = path.join(scratch, 'windows.progress');
  const result = await model.perplexity(
    { input: { ids: idsOf(80) }, ctx: 16, progress: { file } },
    { onProgress: (progress) => void seen.push(progress) },
  );
  expect(seen.map(({ windowsDone, windows, prefillTokens }) => [windowsDone, windows, prefillTokens])).toEqual(
    [1, 2, 3, 4, 5].map((done) => [done, 5, 16 * done]),
  );
  const sums = result.windows.map(({ nllSum }) => nllSum!);
  seen.forEach(({ perplexity }, index) => {
    const mean = sums.slice(0, index + 1).reduce((total, sum) => total + sum, 0) / (7 * (index + 1));
    expect(perplexity).toBeCloseTo(Math.exp(mean), 10);
  });
  expect(seen.at(-1)).toMatchObject({
    perplexity: result.perplexity,
    perplexityUncertainty: result.perplexityUncertainty,
  });
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(1 + 5 + 1);
});
