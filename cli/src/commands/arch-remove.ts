import { removePlugin } from '@kvad/arch-registry';
import type { CliArchRemove } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { registryOptions } from '../plugin-places.js';
import type { Action } from './actions.js';

/** `kvad arch remove NAME`: of the user's folder only. */
export const archRemove: Action<'arch remove'> = async (io, { args: { name }, options }) => {
  const { userDirectory } = registryOptions({ plugins: [], workingDirectory: io.cwd, env: io.env });
  const directory = removePlugin(name, userDirectory);
  if (options.json) await writeJson(io.stdout, { object: 'kvad.arch-remove', name, directory } satisfies CliArchRemove);
  else await writeLine(io.stdout, `removed ${name} from ${directory}`);
  return 0;
};
