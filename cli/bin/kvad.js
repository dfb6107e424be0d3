#!/usr/bin/env node
// CommonJS, and `--version` is answered here: Node starts its loader of ES modules only where it is needed.
const { existsSync, readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const argv = process.argv.slice(2);
const root = path.join(__dirname, '../..');
const BUNDLE = path.join(__dirname, '../dist/start/kvad.js');

/** In a checkout the packages may have been compiled since they were put together: then they run as they lie. */
const isBundleStale = () => {
  if (!existsSync(path.join(__dirname, '../src'))) return false;
  const plugins = readdirSync(path.join(root, 'plugins')).map((name) => `plugins/${name}`);
  const times = ['schemas', 'core', 'arch-registry', 'cli', ...plugins].map((folder) =>
    statSync(path.join(root, folder, 'dist/.tsbuildinfo'), { throwIfNoEntry: false }),
  );
  const made = statSync(BUNDLE, { throwIfNoEntry: false });
  return made === undefined || times.some((time) => time !== undefined && time.mtimeMs > made.mtimeMs);
};

/** Whether a model is most likely needed: without a word, flags are those of `run`. */
const asksModel = () => {
  const [first = '--help'] = argv;
  const isRun = first.startsWith('-') && first !== '--help' && first !== '-h';
  return (isRun || ['run', 'chat', 'logits', 'perplexity'].includes(first)) && !argv.includes('--help');
};

/** Its worker starts now, beside everything else; one that is not needed after all ends with the process. */
const startWorker = () => {
  const { Worker } = require('node:worker_threads');
  // As cli/src/start-threads.ts has it.
  const options = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 6 } };
  const worker = new Worker(path.join(__dirname, '../dist/start/worker.js'), options);
  worker.unref();
  return worker;
};

if (argv[0] === '--version' || argv[0] === '-V') {
  process.stdout.write(`kvad ${require('../package.json').version}\n`);
} else {
  // Who looks for a fault wants to see where it lies.
  const plain = argv.includes('--debug') || isBundleStale();
  const early = !plain && asksModel() ? startWorker() : null;
  void import(plain ? '../dist/commands/main.js' : '../dist/start/kvad.js').then(({ main }) => main(argv, early));
}
