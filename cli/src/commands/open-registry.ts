import { createRegistry, type Registry } from '@kvad/arch-registry';
import type { Io } from '../io/io.js';
import { registryOptions } from '../plugin-places.js';

/** The plugins as this user has them: flags, the project's kvad.config.json, the user's folder, the bundled ones. */
export const openRegistry = (io: Io, plugins: readonly string[]): Registry =>
  createRegistry(registryOptions({ plugins, workingDirectory: io.cwd, env: io.env }));
