/**
 * kvad beside llama.cpp on the same machine, in turns: medians, full ranges and ratios. Run by hand, not by the tests:
 *
 *   node test/bench/vs-llama.ts --llama-bench PATH --gguf MODEL-q8_0.gguf --plan test/bench/plans/MODEL.json --quant q8 \
 *     [--rounds 5] [--repeats 3] [--threads 2] [--prompt-tokens 512] [--decode-tokens 64] [--node PATH]
 *
 * Needs Node 22.18 or later, which runs TypeScript as it is; `--node` is the one that runs kvad (default: the same). Both
 * have the same threads, prompt and steps, warm up once and repeat in each turn, and decode from an empty context. The GGUF
 * has to have the shapes of the plan; both sizes are printed, for a peer with more bytes to read is no peer.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

interface Rates {
  readonly prefill: number;
  readonly decode: number;
}

const { values: given } = parseArgs({
  options: {
    'llama-bench': { type: 'string' },
    gguf: { type: 'string' },
    plan: { type: 'string' },
    quant: { type: 'string', default: 'q8' },
    rounds: { type: 'string', default: '5' },
    repeats: { type: 'string', default: '3' },
    node: { type: 'string', default: process.execPath },
    threads: { type: 'string', default: '2' },
    'prompt-tokens': { type: 'string', default: '512' },
    'decode-tokens': { type: 'string', default: '64' },
  },
});
const required = (name: 'llama-bench' | 'gguf' | 'plan'): string => {
  const value = given[name];
  if (value === undefined) throw new Error(`--${name} is needed`);
  return value;
};
const [llamaBench, gguf, plan] = [required('llama-bench'), required('gguf'), required('plan')];
const { threads, quant, repeats, 'prompt-tokens': prompt, 'decode-tokens': steps } = given;
const root = path.resolve(import.meta.dirname, '../..');

const llama = (): Rates => {
  const words = ['-m', gguf, '-t', threads, '-p', prompt, '-n', steps, '-r', repeats, '-o', 'json'];
  const rows = JSON.parse(
    execFileSync(llamaBench, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as {
    n_prompt: number;
    n_gen: number;
    avg_ts: number;
  }[];
  const rate = (of: (row: (typeof rows)[number]) => boolean): number => {
    const row = rows.find(of);
    if (row === undefined) throw new Error('llama-bench gave no such row');
    return row.avg_ts;
  };
  return { prefill: rate(({ n_prompt }) => n_prompt > 0), decode: rate(({ n_gen }) => n_gen > 0) };
};

let weightBytes = 0;
const kvad = (): Rates => {
  const words = ['bench', '--plan', plan, '--quant', quant, '--rounds', repeats, '--threads', threads];
  const more = ['--prompt-tokens', prompt, '--decode-tokens', steps, '--json'];
  const text = execFileSync(given.node, [path.join(root, 'cli/bin/kvad.js'), ...words, ...more], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { results } = JSON.parse(text) as {
    results: { weight_bytes: number; decode_tokens_per_second: number; prefill_tokens_per_second: number }[];
  };
  const [result] = results;
  if (result === undefined) throw new Error('kvad bench gave no result');
  weightBytes = result.weight_bytes;
  return { prefill: result.prefill_tokens_per_second, decode: result.decode_tokens_per_second };
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
};
const line = (name: string, values: readonly number[]): string =>
  `  ${name.padEnd(6)} ${median(values).toFixed(1)} tok/s (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;

const runs: { readonly ours: Rates; readonly theirs: Rates }[] = [];
for (let round = 0; round < Number(given.rounds); round++) {
  // In turns, and each of them first in every other round.
  const first = round % 2 === 0 ? kvad() : llama();
  const second = round % 2 === 0 ? llama() : kvad();
  runs.push(round % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first });
}

say(`load ${loadavg()[0]!.toFixed(2)}; weights: kvad ${weightBytes} bytes, ${gguf} ${statSync(gguf).size} bytes`);
for (const what of ['decode', 'prefill'] as const) {
  const ours = runs.map((run) => run.ours[what]);
  const theirs = runs.map((run) => run.theirs[what]);
  say(`${what}: kvad is ${(median(ours) / median(theirs)).toFixed(2)} times as fast`);
  say(line('kvad', ours));
  say(line('llama', theirs));
}
