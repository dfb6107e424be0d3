import { readFileSync, realpathSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

/** The entries of @kvad/core that a plugin may import. */
const SURFACE = ['@kvad/core', '@kvad/core/plugin', '@kvad/core/testing'];

/** Hooks belong to the thread, not to a registry: they are put in once. */
let installed = false;

/**
 * Sees to it that `@kvad/core` means the host's one copy in this module: a plugin in the user's folder has none beside
 * it, and a plugin that has one of its own must not bring a second engine along. Where Node finds the host's copy
 * anyway (bundled plugins), no hooks are put in: they cost a thread.
 */
export const resolveCoreToHost = (entry: string): void => {
  if (installed || findsHostCore(entry)) return;
  installed = true;
  const urls = Object.fromEntries(SURFACE.map((name) => [name, pathToFileURL(require.resolve(name)).href]));
  register(new URL('./host-core-hooks.js', import.meta.url), { data: urls });
};

const findsHostCore = (entry: string): boolean => {
  try {
    const found = createRequire(pathToFileURL(entry)).resolve('@kvad/core/plugin');
    return realpathSync(found) === realpathSync(require.resolve('@kvad/core/plugin'));
  } catch {
    return false; // nothing there, or a copy without that entry: either way it is not the host's
  }
};

/** Version of the @kvad/core that plugins get. */
export const coreVersion = (): string =>
  (JSON.parse(readFileSync(require.resolve('@kvad/core/package.json'), 'utf8')) as { version: string }).version;
