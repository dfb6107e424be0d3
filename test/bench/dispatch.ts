/**
 * What the script takes of a decode step: recording the commands and handing them over (dispatch), and choosing a token. Run by hand, not by the tests:
 *
 *   node test/bench/dispatch.ts [--plan test/bench/plans/smollm2-135m.json] [--quant q8] [--threads 2] [--steps 400]
 *
 * Needs Node 22.18 or later, which runs TypeScript as it is. While the script records, the other threads compute; from a
 * step's result to the first commands of the next they have nothing to do.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRegistry } from '@kvad/arch-registry';
import type { ModelPlan } from '@kvad/schemas';
import { registryOptions } from '../../cli/dist/plugin-places.js';
import { Arm } from '../../core/dist/bench/arm.js';
import { planSource } from '../../core/dist/bench/sources.js';
import { spread } from '../../core/dist/bench/statistics.js';
import { variantsOf, type BenchPrecision } from '../../core/dist/bench/variants.js';
import { loadAddon } from '../../core/dist/kernels/native/addon.js';
import { gatherParts } from '../../core/dist/runtime/gather-parts.js';
import { Model } from '../../core/dist/runtime/model.js';
import { PartRegistry } from '../../core/dist/runtime/part-registry.js';

const { values: given } = parseArgs({
  options: {
    plan: { type: 'string', default: 'test/bench/plans/smollm2-135m.json' },
    quant: { type: 'string', default: 'q8' },
    threads: { type: 'string', default: '2' },
    steps: { type: 'string', default: '400' },
  },
});
const threads = Number(given.threads);
const steps = Number(given.steps);

const addon = loadAddon();
if (addon === null) throw new Error('the native arithmetic is not built');

/**
 * Milliseconds of a step: from the result of the one before to its own; of these choosing a token and the turn of the
 * event loop (`between`), recording before the first commands are handed over (`first`), and recording beside the threads.
 */
interface Row {
  step: number;
  between: number;
  first: number;
  beside: number;
}
const rows: Row[] = [];
let ended = performance.now();
let entered = ended;
let handed: number | null = null;
const { start, finish } = addon;
const forward = Reflect.get(Model.prototype, 'forward');
Model.prototype.forward = function (sequences) {
  entered = performance.now();
  return Reflect.apply(forward, this, [sequences]);
};
addon.start = (engine, commands, count) => {
  handed ??= performance.now();
  start(engine, commands, count);
};
addon.finish = (engine) => {
  const from = performance.now();
  finish(engine);
  const now = performance.now();
  const first = (handed ?? from) - entered;
  rows.push({ step: now - ended, between: entered - ended, first, beside: from - entered - first });
  ended = now;
  handed = null;
};

const plan = JSON.parse(readFileSync(given.plan, 'utf8')) as ModelPlan;
const registry = createRegistry(registryOptions({ plugins: [], workingDirectory: process.cwd(), env: process.env }));
const parts = await gatherParts(plan, registry, (plugins) => PartRegistry.of(plugins));
const variant = variantsOf([given.quant as BenchPrecision], false)[0]!;
const arm = new Arm(planSource(given.plan, plan, parts), variant, { threads, kvCacheDtype: 'f16', batchSize: 512 });

const ids = Array.from({ length: steps }, (_, i) => (i * 7919) % plan.vocabSize);
const { signal } = new AbortController();
for (let turn = 0; turn < 2; turn++) {
  rows.length = 0; // what compiles the script does not count
  await arm.decode(ids, 0, signal);
}
arm.close();

const median = (of: (row: (typeof rows)[number]) => number): number => spread(rows.slice(1).map(of)).median;
const step = median((row) => row.step);
const between = median((row) => row.between);
const first = median((row) => row.first);
const beside = median((row) => row.beside);
const share = (milliseconds: number): string =>
  `${milliseconds.toFixed(2)} ms (${((100 * milliseconds) / step).toFixed(1)} %)`;
process.stdout.write(
  `${plan.family} ${variant.name}, ${arm.threads} threads, ${rows.length - 1} steps of ${step.toFixed(2)} ms: ` +
    `dispatch takes ${share(first + beside / threads)} of the threads' time, ${share(first)} of it before they begin and ` +
    `${share(beside)} of one beside the others; ${share(between)} go between steps, to the token and the event loop\n`,
);
