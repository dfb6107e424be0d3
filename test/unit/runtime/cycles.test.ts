import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const run = promisify(execFile);
const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-cycles-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** Cycles that are looked at, of those that take no thread of their own; docs/performance.md tells of 1,000. */
const CYCLES = Number(process.env['KVAD_TEST_CYCLES'] ?? 25);
/** Before them: what is made once is made, modules and what they keep; on Node 24 288 KB more by the 35th cycle. */
const WARM = { here: 40, workers: 3 } as const;

interface Held {
  /** Bytes that live in the heap of the thread that loads, after a collection. */
  readonly heap: number;
  /** Bytes that were allocated outside of the heaps and not freed; -1: not known here. */
  readonly allocated: number;
  /** Resident memory, bytes. */
  readonly rss: number;
  readonly descriptors: number;
  /** Mappings of files of the model and of the quant cache. */
  readonly mapped: number;
  readonly threads: number;
}

/** Loads models into the process's own thread, or each into a worker. */
const LOADERS = {
  here: `
    import { createWorkerContainer } from ${JSON.stringify(path.resolve('cli/dist/worker-container.js'))};
    import { MODEL_LOADER } from ${JSON.stringify(path.resolve('cli/dist/tokens.js'))};
    const loader = createWorkerContainer({}).resolve(MODEL_LOADER);`,
  workers: `
    import { createEngine } from ${JSON.stringify(path.resolve('cli/dist/index.js'))};
    const loader = createEngine();`,
} as const;

/**
 * What V8 makes of the code while it runs (compiled functions, and what it notes of their arguments) grows for the first
 * two thousand cycles. Without its compilers, and with the notes made at once, what is left of the heap is what lives.
 */
const STILL = ['--jitless', '--no-lazy-feedback-allocation', '--no-flush-bytecode', '--no-warnings'];

/**
 * Freed blocks that the C library keeps for each thread would count as allocated; and each thread of Node's pool that
 * encodes for the first time makes something of its own.
 */
const COUNTED = { GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0', UV_THREADPOOL_SIZE: '1' };

const SAMPLES = 5;

/** A process that loads, computes and disposes again and again, and what it holds after each fifth of its cycles. */
const cycle = async (where: keyof typeof LOADERS, cycles: number, options: object): Promise<Held[]> => {
  const model = path.join(scratch, 'model');
  cpSync('cli/model', model, { recursive: true });
  const source = `
    import { readdirSync, readFileSync } from 'node:fs';
    import { loadAddon } from ${JSON.stringify(path.resolve('core/dist/kernels/native/addon.js'))};
    ${LOADERS[where]}
    const held = async () => {
      // A worker that has been ended is still closing what it had open for a while.
      const open = () => readdirSync('/proc/self/fd').length + readdirSync('/proc/self/task').length;
      for (let i = 0, before = -1, same = 0; i < 100 && same < 8; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
        same = open() === before ? same + 1 : 0;
        before = open();
      }
      const maps = readFileSync('/proc/self/maps', 'utf8').split('\\n');
      return {
        heap: process.memoryUsage().heapUsed,
        allocated: loadAddon().trim(),
        rss: process.memoryUsage.rss(),
        descriptors: readdirSync('/proc/self/fd').length,
        mapped: maps.filter((line) => line.includes(${JSON.stringify(scratch)})).length,
        threads: readdirSync('/proc/self/task').length,
      };
    };
    const one = async () => {
      const model = await loader.load(${JSON.stringify(model)}, ${JSON.stringify(options)});
      const session = await model.session();
      for await (const event of session.generate({ text: 'Once upon a time' }, { temperature: 0, maxTokens: 1 })) void event;
      await model.close();
    };
    for (let i = 0; i < ${WARM[where]}; i++) await one();
    const all = [await held()];
    for (let i = 1; i <= ${cycles}; i++) {
      await one();
      if (i % ${Math.ceil(cycles / SAMPLES)} === 0 || i === ${cycles}) all.push(await held());
    }
    console.log(JSON.stringify(all));`;
  const words = ['--expose-gc', ...STILL, '--input-type=module', '-e', source];
  const env = { ...process.env, ...COUNTED, XDG_CACHE_HOME: path.join(scratch, 'home') };
  const { stdout } = await run(process.execPath, words, { env });
  return JSON.parse(stdout) as Held[];
};

/** Of what each fifth of the cycles adds, bytes a cycle, the median: a leak adds to each, something made once to one. */
const growth = (all: readonly Held[], kind: 'heap' | 'allocated', cycles: number): number => {
  const added = all.slice(1).map((held, index) => held[kind] - all[index]![kind]);
  const [middle] = added.sort((a, b) => a - b).slice(Math.floor(added.length / 2));
  return middle! / Math.ceil(cycles / SAMPLES);
};

/**
 * Bytes a cycle: a leak of 1 KiB, in the heap or outside, is one. A worker that ends gives its memory back when it comes
 * to it: there the samples differ by 1 MiB.
 */
const most = (where: keyof typeof LOADERS, cycles: number): number =>
  where === 'here' ? 512 : 512 + 2 ** 20 / Math.ceil(cycles / SAMPLES);

describe.runIf(loadAddon() !== null && process.platform === 'linux')('models that are loaded and closed again', () => {
  it.each([
    ['here', 'as stored', 1, {}, CYCLES],
    ['here', 'as stored', 2, {}, CYCLES],
    ['here', 'as q8, from the cache', 2, { quant: 'q8' }, CYCLES],
    ['workers', 'as q8, from the cache', 2, { quant: 'q8' }, Math.ceil(CYCLES / 5)],
  ] as const)(
    '%s, %s, with %i threads: nothing is left of them',
    async (where, _, threads, quant, cycles) => {
      const all = await cycle(where, cycles, { ...quant, threads });
      const [first, last] = [all[0]!, all.at(-1)!];
      if (process.env['KVAD_TEST_CYCLES'] !== undefined)
        process.stdout.write(`${where} ${cycles} ${JSON.stringify(all)}\n`);
      // The thread of the tokenizers, which lives on, lets go of each tokenizer.json when it collects what is not used.
      expect(last.mapped, JSON.stringify(all)).toBeLessThan(where === 'here' ? 1 : 12);
      for (const kind of ['descriptors', 'threads'] as const)
        expect(last[kind], `${kind}: ${JSON.stringify(all)}`).toBeLessThanOrEqual(first[kind]);
      for (const kind of ['heap', 'allocated'] as const)
        expect(growth(all, kind, cycles), `${kind}: ${JSON.stringify(all)}`).toBeLessThan(most(where, cycles));
      // Pages that neither of them counts: a cycle maps or makes 5 MB of weights and touches its scratch.
      expect(last.rss - first.rss, JSON.stringify(all)).toBeLessThan(20 * 2 ** 20);
    },
    300_000 + CYCLES * 5_000,
  );

  it('an engine that is closed has ended its threads, that of the last tokenizer too', async () => {
    const source = `
      import { readdirSync } from 'node:fs';
      import { createEngine } from ${JSON.stringify(path.resolve('cli/dist/index.js'))};
      const counts = [];
      for (let i = 0; i < 3; i++) {
        const engine = createEngine();
        for (let j = 0; j < 2; j++) await (await engine.load(null)).close();
        const before = readdirSync('/proc/self/task').length;
        await engine.close();
        counts.push([before, readdirSync('/proc/self/task').length]);
      }
      console.log(JSON.stringify(counts));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', source], {
      env: { ...process.env, ...COUNTED },
    });
    const counts = JSON.parse(stdout) as [number, number][];
    const [, [before, after]] = counts as [unknown, [number, number]];
    expect(before - after, stdout).toBe(1);
    expect(counts.at(-1), stdout).toEqual([before, after]);
  }, 60_000);
});
