/**
 * From the start of the process to the first byte of the answer: `kvad run` beside `llama-completion`, in turns. Run by
 * hand, not by the tests:
 *
 *   node test/bench/first-token.ts --llama-completion PATH --gguf MODEL-q8_0.gguf --model FOLDER \
 *     [--quant q8] [--prompt TEXT | --prompt-file FILE] [--rounds 12] [--threads 2] [--node PATH]
 *
 * Needs Node 22.18 or later, which runs TypeScript as it is; `--node` is the one that runs kvad (default: the same). Both
 * continue the raw prompt, greedily, with the same threads. The first round is dropped: it writes the quantised weights
 * and brings all files into memory. llama-completion is measured as it comes, and without the empty run that it makes
 * before the prompt (`--no-warmup`).
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values: given } = parseArgs({
  options: {
    'llama-completion': { type: 'string' },
    gguf: { type: 'string' },
    model: { type: 'string' },
    quant: { type: 'string', default: 'q8' },
    prompt: { type: 'string', default: 'The capital of France is' },
    'prompt-file': { type: 'string' },
    rounds: { type: 'string', default: '12' },
    threads: { type: 'string', default: '2' },
    node: { type: 'string', default: process.execPath },
  },
});
const required = (name: 'llama-completion' | 'gguf' | 'model'): string => {
  const value = given[name];
  if (value === undefined) throw new Error(`--${name} is needed`);
  return value;
};
const [llamaCompletion, gguf, model] = [required('llama-completion'), required('gguf'), required('model')];
const { threads, quant } = given;
const file = given['prompt-file'];
const prompt = file === undefined ? given.prompt : readFileSync(file, 'utf8').trimEnd();
const TOKENS = '4';

const kvad = path.resolve(import.meta.dirname, '../../cli/bin/kvad.js');
const ours = ['run', '--model', model, '--quant', quant, '--threads', threads, '--raw', '--greedy'];
const theirs = ['-m', gguf, '-t', threads, '-no-cnv', '--no-display-prompt', '--temp', '0', '-n', TOKENS, '-p', prompt];
const PROGRAMS: readonly { readonly name: string; readonly command: string; readonly words: readonly string[] }[] = [
  { name: 'kvad', command: given.node, words: [kvad, ...ours, '--max-tokens', TOKENS, '--prompt', prompt] },
  { name: 'llama-completion', command: llamaCompletion, words: theirs },
  { name: 'llama-completion --no-warmup', command: llamaCompletion, words: [...theirs, '--no-warmup'] },
];

/** Certificates that a machine adds are read when Node starts, for whoever has set this: they are no part of a model. */
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

/** Milliseconds from the start to the first byte on stdout, and the answer. */
const first = ({ name, command, words }: (typeof PROGRAMS)[number]): Promise<{ time: number; answer: string }> =>
  new Promise((resolve, reject) => {
    const start = performance.now();
    let time: number | null = null;
    let answer = '';
    const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.on('data', (data: Buffer) => {
      time ??= performance.now() - start;
      answer += data.toString();
    });
    child.on('error', reject).on('close', (code) => {
      if (code === 0 && time !== null) resolve({ time, answer });
      else reject(new Error(`${name} ended with code ${code}${time === null ? ' and without an answer' : ''}`));
    });
  });

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
};

const times = PROGRAMS.map((): number[] => []);
const answers = new Set<string>();
for (let round = 0; round <= Number(given.rounds); round++) {
  // In turns, each of them first in one of three rounds.
  for (let turn = 0; turn < PROGRAMS.length; turn++) {
    const which = (round + turn) % PROGRAMS.length;
    const { time, answer } = await first(PROGRAMS[which]!);
    if (round > 0) times[which]!.push(time);
    answers.add(`${PROGRAMS[which]!.name}: ${JSON.stringify(answer)}`);
  }
}

say(`load ${loadavg()[0]!.toFixed(2)}; ${times[0]!.length} rounds; milliseconds to the first byte, median (range)`);
for (const [index, { name }] of PROGRAMS.entries()) {
  const list = times[index]!;
  const ratio = median(times[0]!) / median(list);
  const range = `${Math.min(...list).toFixed(0)} to ${Math.max(...list).toFixed(0)}`;
  say(`  ${name.padEnd(28)} ${median(list).toFixed(0).padStart(5)} (${range})  kvad takes ${ratio.toFixed(2)} of it`);
}
for (const answer of answers) say(`  ${answer}`);
