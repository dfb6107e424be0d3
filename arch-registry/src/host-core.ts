import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';

const require = nodeModule.createRequire(import.meta.url);

/** The entries of @kvad/core that a plugin may import. */
const SURFACE = ['@kvad/core', '@kvad/core/plugin', '@kvad/core/testing'];

/** The hooks belong to the process's thread, not to a registry: they are put in once, before the first plugin. */
let installed = false;

/**
 * From now on `@kvad/core` means this one, whoever imports it: a plugin in the user's folder has none beside it, and
 * a plugin with a copy of its own must not bring a second engine along.
 */
export const resolveCoreToHost = (): void => {
  if (installed) return;
  installed = true;
  const urls = Object.fromEntries(SURFACE.map((name) => [name, pathToFileURL(require.resolve(name)).href]));
  nodeModule.register(new URL('./host-core-hooks.js', import.meta.url), { data: urls });
};

/** Version of the @kvad/core that plugins get. */
export const coreVersion = (): string =>
  (JSON.parse(readFileSync(require.resolve('@kvad/core/package.json'), 'utf8')) as { version: string }).version;
