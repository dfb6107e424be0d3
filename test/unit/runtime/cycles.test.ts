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
const CYCLES = Number(process.env['KVAD_TEST_CYCLES'] ?? 20);

interface Held {
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

/** A process that loads, computes and disposes again and again, and what it holds after each fifth of its cycles. */
const cycle = async (where: keyof typeof LOADERS, cycles: number, options: object): Promise<Held[]> => {
  const model = path.join(scratch, 'model');
  cpSync('cli/model', model, { recursive: true });
  const source = `
    import { readdirSync, readFileSync } from 'node:fs';
    ${LOADERS[where]}
    const held = async () => {
      for (let i = 0; i < 5; i++) { gc(); await new Promise((resolve) => setTimeout(resolve, 20)); }
      const maps = readFileSync('/proc/self/maps', 'utf8').split('\\n');
      return {
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
    for (let i = 0; i < 5; i++) await one();
    const all = [await held()];
    for (let i = 1; i <= ${cycles}; i++) {
      await one();
      if (i % ${Math.ceil(cycles / 5)} === 0 || i === ${cycles}) all.push(await held());
    }
    console.log(JSON.stringify(all));`;
  const words = ['--expose-gc', '--input-type=module', '-e', source];
  const env = { ...process.env, XDG_CACHE_HOME: path.join(scratch, 'home') };
  const { stdout } = await run(process.execPath, words, { env });
  return JSON.parse(stdout) as Held[];
};

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
      expect(last).toMatchObject({ descriptors: first.descriptors, mapped: 0, threads: first.threads });
      // A cycle maps or makes 5 MB of weights and touches its scratch: a leak of it would soon be more than this.
      expect(last.rss - first.rss, JSON.stringify(all)).toBeLessThan(40 * 2 ** 20);
    },
    300_000 + CYCLES * 5_000,
  );
});
