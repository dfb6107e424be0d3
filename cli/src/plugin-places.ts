import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import type { RegistryOptions } from '@kvad/arch-registry';
import { HOST_MODULES } from './host-modules.js';

/** Where plugins are looked for. */
export interface PluginPlaces {
  /** Folders or packages, as `--plugin` gives them. */
  readonly plugins: readonly string[];
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const registryOptions = ({ plugins, workingDirectory, env }: PluginPlaces): RegistryOptions => ({
  plugins,
  workingDirectory,
  userDirectory: path.join(dataHome(env), 'kvad', 'plugins'),
  bundled: bundledPlugins(),
  ...(HOST_MODULES === undefined ? {} : { host: HOST_MODULES }),
});

const dataHome = (env: PluginPlaces['env']): string => {
  const { XDG_DATA_HOME: home } = env;
  return home !== undefined && path.isAbsolute(home) ? home : path.join(homedir(), '.local', 'share');
};

/** The plugins among the dependencies of this package, by their folders. */
const bundledPlugins = (): string[] => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const require = createRequire(import.meta.url);
  return Object.keys(dependencies)
    .filter((name) => name.startsWith('@kvad/arch-') && name !== '@kvad/arch-registry')
    .map((name) => path.dirname(require.resolve(`${name}/package.json`)));
};
