import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PluginFolders } from './plugin-folders.js';

const run = promisify(execFile);
const registryEntry = new URL(import.meta.resolve('@kvad/arch-registry')).href;
const coreEntry = new URL(import.meta.resolve('@kvad/core/plugin')).href;

let folders: PluginFolders;
beforeEach(() => (folders = new PluginFolders()));
afterEach(() => folders.remove());

/** A plugin that says whether the core it got is the host's, by the identity of a function. */
const telltale = `
import * as core from '@kvad/core/plugin';
globalThis.core = core;
export default core.definePlugin({ name: 'far-away', apiVersion: 1, families: [core.defineFamily({
  modelTypes: ['far_lm'], about: 'a test', reference: 'none', config: { schema: 'none.json' },
  plan: () => ({}), weights: () => [],
})] });
`;

const script = (): string => `
const { createRegistry } = await import(${JSON.stringify(registryEntry)});
const registry = createRegistry({
  plugins: [], workingDirectory: ${JSON.stringify(folders.project)}, userDirectory: ${JSON.stringify(folders.user)}, bundled: [],
});
await registry.family('far_lm');
const host = await import(${JSON.stringify(coreEntry)});
process.stdout.write(globalThis.core.definePlugin === host.definePlugin ? 'the same' : 'another');
`;

const threads: [string, (file: string) => string][] = [
  ['the main thread', (file) => `await import(${JSON.stringify(file)});`],
  [
    'a worker',
    (file) => `const { Worker } = await import('node:worker_threads'); new Worker(${JSON.stringify(file)});`,
  ],
];

it.each(threads)('a plugin far from kvad gets the core of the host, in %s', async (_, main) => {
  folders.plugin({ name: 'far-away', modelTypes: ['far_lm'], module: telltale }, 'user/node_modules');
  const file = folders.write(script(), 'scripts', 'load.mjs');
  const start = folders.write(main(file), 'scripts', 'start.mjs');
  const { stdout, stderr } = await run(process.execPath, [start], { cwd: path.dirname(start) });
  expect({ stdout, stderr }).toEqual({ stdout: 'the same', stderr: '' });
});
