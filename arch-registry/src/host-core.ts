import { readFileSync, realpathSync } from 'node:fs';
import module, { createRequire, register, type ResolveHook } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { initialize, resolve } from './host-core-hooks.js';
import type { HostModules } from './types.js';

const require = createRequire(import.meta.url);

/** The entries of @kvad/core that a plugin may import. */
const SURFACE = ['@kvad/core', '@kvad/core/plugin', '@kvad/core/testing'];

/** The modules of the packages as they lie. */
export const packagesAsTheyLie = (): HostModules => ({
  core: Object.fromEntries(SURFACE.map((name) => [name, pathToFileURL(require.resolve(name)).href])),
  plugins: {},
});

/** Of Node 22.15 and later: hooks in the thread that imports. Node 26 warns of those in a thread of their own. */
const { registerHooks } = module as { registerHooks?: (hooks: { resolve: ResolveHook }) => unknown };

/** Hooks belong to the thread, not to a registry: they are put in once. */
let installed = false;

/**
 * Sees to it that `@kvad/core` means the host's one copy in this module: a plugin in the user's folder has none beside
 * it, and a plugin that has one of its own must not bring a second engine along. Where Node finds the host's copy
 * anyway, no hooks are put in: before Node 22.15 they cost a thread.
 */
export const resolveCoreToHost = (entry: string, core: HostModules['core']): void => {
  if (installed || findsHostCore(entry, core)) return;
  installed = true;
  if (registerHooks === undefined) {
    register(new URL('./host-core-hooks.js', import.meta.url), { data: core });
    return;
  }
  void initialize(core);
  registerHooks({ resolve });
};

const findsHostCore = (entry: string, core: HostModules['core']): boolean => {
  try {
    const found = createRequire(pathToFileURL(entry)).resolve('@kvad/core/plugin');
    return realpathSync(found) === realpathSync(fileURLToPath(core['@kvad/core/plugin']!));
  } catch {
    return false; // nothing there, or a copy without that entry: either way it is not the host's
  }
};

/** Version of the @kvad/core that plugins get. */
export const coreVersion = (): string =>
  (JSON.parse(readFileSync(require.resolve('@kvad/core/package.json'), 'utf8')) as { version: string }).version;
