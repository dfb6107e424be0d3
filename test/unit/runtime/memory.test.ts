/**
 * What a process with a model holds in memory, in a process of its own: the system's count has nobody else in it. With the
 * package as it is installed, whose modules have been put together: each thread loads those that it needs.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const MB = 1e6;
const folder = mkdtempSync(path.join(tmpdir(), 'kvad-memory-'));
const model = path.join(folder, 'model');
cpSync('cli/model', model, { recursive: true });
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The same with a vocabulary of a size that is usual in large models, its merges written as pairs. */
const wide = path.join(folder, 'wide');
const writeWide = (): void => {
  cpSync(model, wide, { recursive: true });
  const file = path.join(wide, 'tokenizer.json');
  const json = JSON.parse(readFileSync(file, 'utf8')) as {
    model: { vocab: Record<string, number>; merges: (string | string[])[] };
    added_tokens: { id: number }[];
  };
  const { vocab, merges } = json.model;
  let id = 1 + Math.max(...Object.values(vocab), ...json.added_tokens.map((token) => token.id));
  const letters = Array.from({ length: 388 }, (_, i) => String.fromCodePoint(0x4e00 + i));
  for (const letter of letters) vocab[letter] = id++;
  json.model.merges = merges.map((merge) => (typeof merge === 'string' ? merge.split(' ') : merge));
  for (const a of letters) {
    for (const b of letters) {
      vocab[a + b] = id++;
      json.model.merges.push([a, b]);
    }
  }
  writeFileSync(file, JSON.stringify(json, null, 2));
};

interface Memory {
  readonly resident: number;
  /** The most that was resident at any time. */
  readonly peak: number;
  readonly weights: number;
  readonly state: number;
  /** Of the stored weights, as a mapped file. */
  readonly source: number;
}

const measured = new Map<string | null, Memory>();

/** After a text of some hundred tokens; bytes. Quantised weights are made in the first run, and not read from a cache. */
const running = (quant: string | null): Memory => {
  const known = measured.get(quant) ?? run(quant);
  measured.set(quant, known);
  return known;
};

const run = (quant: string | null, directory = model): Memory => {
  const source = `
    import { readFileSync } from 'node:fs';
    import { createEngine } from ${JSON.stringify(path.resolve('cli/dist/start/index.js'))};
    const engine = createEngine({ plugins: [], env: process.env });
    const model = await engine.load(${JSON.stringify(directory)}, { quant: ${JSON.stringify(quant)}, threads: 2 });
    const session = await model.session();
    let tokens = 0;
    const prompt = { text: 'Once upon a time there was a fox. '.repeat(12) };
    for await (const event of session.generate(prompt, { temperature: 0, maxTokens: 64 }))
      if (event.type === 'end') tokens = event.stats.promptTokens + event.stats.generatedTokens;
    const of = (field) => 1024 * Number(new RegExp(field + ':\\\\s+(\\\\d+)').exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    const [resident, peak] = [of('VmRSS'), of('VmHWM')];
    const maps = readFileSync('/proc/self/smaps', 'utf8').split(/\\n(?=[0-9a-f]+-[0-9a-f]+ )/);
    const source = maps
      .filter((text) => text.split('\\n')[0].endsWith('model.safetensors'))
      .reduce((sum, text) => sum + 1024 * Number(/Rss:\\s+(\\d+)/.exec(text)[1]), 0);
    const { weightBytes: weights, stateBytesPerToken } = model.facts;
    console.log(JSON.stringify({ resident, peak, weights, state: tokens * stateBytesPerToken, source }));
    await engine.close();`;
  const env = { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache') };
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8', env });
  return JSON.parse(out) as Memory;
};

describe.runIf(loadAddon() !== null && process.platform === 'linux')('a process with a model', () => {
  it.each([null, 'f32', 'q8', 'q4'])('holds its weights, its state and 200 MB at most: %s', (quant) => {
    const { resident, weights, state } = running(quant);
    expect(resident - weights - state).toBeLessThan(200 * MB);
    expect(resident).toBeGreaterThan(weights);
  });

  it.each([null, 'f32', 'q8'])(
    'holds no more than that while it loads, with 151,000 tokens either: %s',
    (quant) => {
      writeWide();
      for (const { peak, weights, state } of [running(quant), run(quant, wide)]) {
        expect(peak - weights - state).toBeLessThan(200 * MB);
      }
    },
    120_000,
  );

  it('does not hold what its weights were made from', () => {
    const stored = running(null).source;
    // 4.6 MB are mapped; what is read of them as vectors is copied.
    expect(stored).toBeGreaterThan(3 * MB);
    for (const quant of ['q8', 'f32']) expect(running(quant).source, quant).toBeLessThan(stored / 3);
  }, 120_000);
});
