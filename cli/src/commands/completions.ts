import type { CliCompletions } from '@kvad/schemas';
import { write, writeJson } from '../io/io.js';
import type { Action } from './actions.js';
import { completionScript, type Shell } from './completion-scripts.js';

/** `kvad completions SHELL` */
export const completions: Action<'completions'> = async (io, { args, options }) => {
  const shell = args.shell as Shell; // the parser lets only these through
  const script = completionScript(shell);
  if (options.json) await writeJson(io.stdout, { object: 'kvad.completions', shell, script } satisfies CliCompletions);
  else await write(io.stdout, script);
  return 0;
};
