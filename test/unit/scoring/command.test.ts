import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CliPerplexity, CliRun, CliTokenize } from '@kvad/schemas';
import { schema } from '@kvad/schemas';
import { schemaCompiler, type PerplexityProgress } from '@kvad/core';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../cli/dist/commands/main.js';
import { progressLine, progressText } from '../../../cli/dist/commands/perplexity-progress-line.js';
import { fakeIo, type FakeIo } from '../cli/fake-io.js';
import { SCORING } from './scoring-goldens.js';

const folder = mkdtempSync(path.join(tmpdir(), 'kvad-perplexity-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => path.join(folder, name);

const heldOut = readFileSync(path.join(SCORING, '../bundled/sample-heldout.txt'), 'utf8');
const TEXT = heldOut.slice(0, 900);
writeFileSync(at('text.txt'), TEXT);

const kvad = async (
  words: readonly string[],
  given: Parameters<typeof fakeIo>[0] = {},
): Promise<FakeIo & { exit: number }> => {
  const io = fakeIo({ cwd: folder, env: { XDG_CACHE_HOME: at('cache') }, ...given });
  return Object.assign(io, { exit: await runCommandLine([...words], io) });
};

const F32 = ['--quant', 'f32', '--kv-cache-dtype', 'f32'];
const validate = schemaCompiler({ validateSchema: true }).compile<CliPerplexity>(schema('cli-perplexity'));

/** The JSON of `kvad perplexity … --ctx 32 --json`. */
const score = async (...words: string[]): Promise<CliPerplexity> => {
  const { exit, out, err } = await kvad(['perplexity', ...words, '--ctx', '32', '--json']);
  expect({ exit, err: err() }).toEqual({ exit: 0, err: '' });
  const object = JSON.parse(out()) as CliPerplexity;
  validate(object);
  expect(validate.errors ?? []).toEqual([]);
  return object;
};

it('the log-probabilities of kvad run add up to the NLL', async () => {
  const run = await kvad([
    'run',
    '--raw',
    '--prompt',
    TEXT,
    '--logprobs',
    '1',
    '--echo',
    '--max-tokens',
    '0',
    '--json',
    ...F32,
  ]);
  const { tokens } = JSON.parse(run.out()) as CliRun;
  const logprobs = (tokens ?? []).flatMap(({ logprob }) => (logprob === null ? [] : [logprob]));
  const scored = await kvad(['perplexity', 'text.txt', '--method', 'sliding', '--ctx', '1024', '--json', ...F32]);
  const { windows = [], scored_tokens: count } = JSON.parse(scored.out()) as CliPerplexity;
  expect([windows.length, logprobs.length]).toEqual([1, count]);
  const sum = logprobs.reduce((total, logprob) => total - logprob, 0);
  expect(Math.abs(windows[0]!.nll_sum! / sum - 1)).toBeLessThan(1e-4);
});

describe('kvad perplexity', () => {
  it('says what it scored, and how', async () => {
    const object = await score('text.txt', ...F32, '--batch-size', '16', '--threads', '1');
    expect(object).toMatchObject({
      ...{ object: 'kvad.perplexity', method: 'chunks', ctx: 32, stride: null, chunks: null, bos: null, kld: null },
      config: { quant: 'f32', kv_cache_dtype: 'f32', batch_size: 16, head_rows: 64, threads: 1, fallback: null },
    });
    expect(object.windows).toHaveLength(Math.floor(object.tokens / 32));
    expect(object.scored_tokens).toBe(15 * object.windows!.length);
    expect(object.token_ids).toBeUndefined();
  });

  it('scores the ids of kvad tokenize as it scores their text, and gives them back', async () => {
    const tokenized = await kvad(['tokenize', TEXT, '--json']);
    writeFileSync(at('ids.json'), tokenized.out());
    const { ids } = JSON.parse(tokenized.out()) as CliTokenize;
    const [ofText, ofIds] = [
      await score('text.txt'),
      await score('--tokens', 'ids.json', '--token-ids', '--no-windows'),
    ];
    expect(ofIds).toMatchObject({
      token_ids: ids,
      perplexity: ofText.perplexity,
      token_ids_sha256: ofText.token_ids_sha256,
    });
    expect(ofIds.windows).toBeUndefined();
  });

  it('reads a text from stdin', async () => {
    const { out } = await kvad(['perplexity', '-', '--ctx', '32', '--json'], { stdin: TEXT });
    const ofFile = await score('text.txt');
    expect((JSON.parse(out()) as CliPerplexity).perplexity).toBe(ofFile.perplexity);
  });

  it('writes a base, and compares with it', async () => {
    await score('text.txt', '--quant', 'f32', '--kld-base-out', 'f32.kld', '--kld-top-k', '8');
    const { kld } = await score('text.txt', '--quant', 'q4', '--kld', 'f32.kld');
    expect(kld).toMatchObject({ base_format: 'topk', top_k: 8, base_model: { quant: 'f32' } });
    expect(kld!.mean_kld).toBeGreaterThan(1e-4);
    const page = await kvad(['perplexity', 'text.txt', '--ctx', '32', '--quant', 'q4', '--kld', 'f32.kld']);
    expect(page.out()).toContain(`${kld!.mean_kld!.toFixed(6)} ± `);
    expect(page.out()).toContain('(top 8)');
  });

  it('keeps the JSON where --output says, and its notes are gone then', async () => {
    const printed = await score('text.txt', '--output', 'out.json');
    expect(JSON.parse(readFileSync(at('out.json'), 'utf8'))).toEqual(printed);
    expect(existsSync(at('out.json.progress'))).toBe(false);
  });

  it.each([
    [['--kld-base-out', 'text.txt'], 'KVAD_E_KLD_BASE_EXISTS'],
    [['--kld', 'text.txt'], 'KVAD_E_KLD_BASE_INVALID'],
  ])('ends with 1 and leaves the text as it was: %j', async (words, code) => {
    const { exit, out, err } = await kvad(['perplexity', 'text.txt', '--ctx', '32', ...words]);
    expect({ exit, out: out(), err: err() }).toMatchObject({ exit: 1, out: '', err: expect.stringContaining(code) });
    expect(readFileSync(at('text.txt'), 'utf8')).toBe(TEXT);
  });

  it('an id that no 32 bits hold is refused, not wrapped', async () => {
    writeFileSync(at('wrap.json'), JSON.stringify([...new Array<number>(70).fill(5), 2 ** 32 + 5]));
    const { exit, err } = await kvad(['perplexity', '--tokens', 'wrap.json', '--ctx', '32']);
    expect({ exit, err: err() }).toMatchObject({ exit: 1, err: expect.stringContaining('token id 4294967301') });
  });

  it.each([
    [[], 'give a text file or --tokens FILE, one of them'],
    [['text.txt', '--tokens', 'ids.json'], 'give a text file or --tokens FILE, one of them'],
    [['--tokens', 'ids.json', '--parse-special'], '--parse-special is about a text'],
    [['text.txt', '--stride', '8'], '--stride needs --method sliding'],
    [['text.txt', '--kld-format', 'full'], '--kld-format needs --kld-base-out'],
    [['text.txt', '--kld-top-k', '8'], '--kld-top-k needs --kld-base-out'],
    [['text.txt', '--force'], '--force needs --kld-base-out'],
    [['text.txt', '--kld-base-out', 'b', '--kld-format', 'full', '--kld-top-k', '8'], '--kld-top-k is not for'],
    [['text.txt', '--kld-base-out', 'b', '--kld-format', 'full', '--method', 'sliding'], 'holds chunks only'],
    [['text.txt', '--kld-base-out', 'b', '--kld-top-k', '33'], '--kld-top-k'],
    [['text.txt', '--ctx', '0'], '--ctx'],
  ])('%j is a mistake in the command: exit code 2', async (words, problem) => {
    const { exit, out, err } = await kvad(['perplexity', ...words]);
    expect({ exit, out: out(), err: err() }).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(problem) });
  });
});

describe('progress', () => {
  const progress: PerplexityProgress = {
    ...{ type: 'perplexity', windowsDone: 12, windows: 120, windowsResumed: 2, perplexity: 2.08217 },
    ...{ perplexityUncertainty: 0.03852, meanKld: null, seconds: 5, prefillTokens: 640 },
  };

  it('is the running estimate, the speed and the time that is left', () => {
    expect(progressText(progress)).toBe('[12/120] PPL 2.0822 ± 0.0385 · 128 tok/s · ETA 0:54');
    expect(progressText({ ...progress, meanKld: 0.0722219, seconds: 500 })).toBe(
      '[12/120] PPL 2.0822 ± 0.0385 · KLD 0.07222 · 1 tok/s · ETA 1:30:00',
    );
    expect(progressText({ ...progress, perplexity: null, perplexityUncertainty: null })).toContain('PPL - ± -');
  });

  it('is one line of a terminal that is removed in the end, and nothing elsewhere', async () => {
    const terminal = fakeIo({ tty: true });
    const line = progressLine(terminal);
    line.show(progress);
    await line.clear();
    await line.clear();
    expect(terminal.err()).toBe(`\r\u001b[K${progressText(progress)}\r\u001b[K`);
    const pipe = fakeIo();
    progressLine(pipe).show(progress);
    await progressLine(pipe).clear();
    expect(pipe.err()).toBe('');
  });
});
