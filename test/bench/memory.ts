/**
 * What a process with a model holds in memory, beside its weights and the state of its sequence. Linux; run by hand, not by
 * the tests (test/unit/runtime/memory.test.ts holds the bundled model to the limit):
 *
 *   node test/bench/memory.ts FOLDER [--quant q8] [--tokens 64] [--threads 2]
 *
 * Needs Node 22.18 or later, which runs TypeScript as it is. One model a process: another would use what the first freed.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEngine, type LoadOptions } from 'kvad';

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quant: { type: 'string' },
    tokens: { type: 'string', default: '64' },
    threads: { type: 'string', default: '2' },
  },
});

const megabytes = (field: string): number => {
  const status = readFileSync('/proc/self/status', 'utf8');
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6;
};
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const engine = createEngine({ env: process.env });
const quant = (given.quant ?? null) as NonNullable<LoadOptions['quant']> | null;
const model = await engine.load(positionals[0] ?? null, { quant, threads: Number(given.threads) });
const session = await model.session();
let length = 0;
const prompt = { text: 'The capital of France is' };
for await (const event of session.generate(prompt, { temperature: 0, maxTokens: Number(given.tokens) })) {
  if (event.type === 'end') length = event.stats.promptTokens + event.stats.generatedTokens;
}
const peak = megabytes('VmHWM');
await setTimeout(1500); // what loading has freed goes back a second after it
const resident = megabytes('VmRSS');
const weights = model.facts.weightBytes / 1e6;
const state = (length * model.facts.stateBytesPerToken) / 1e6;
const beside = (total: number): string => (total - weights - state).toFixed(0);
say(
  `weights ${weights.toFixed(1)} MB (${quant ?? 'as stored'}), state ${state.toFixed(1)} MB of ${length} tokens; ` +
    `resident ${resident.toFixed(0)} MB, ${beside(resident)} beside them; at most ${peak.toFixed(0)} MB, ${beside(peak)} beside them`,
);
await engine.close();
