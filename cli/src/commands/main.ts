import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { isKvadError, sayErrorsAs } from '@kvad/core/errors';
import { colorsFor } from '../io/colors.js';
import type { Io } from '../io/io.js';
import { write } from '../io/io.js';
import { printError } from '../io/print-error.js';
import { processIo, type Interruption } from '../io/process-io.js';
import { HERE, startModelThread, type StartThreads } from '../start-threads.js';
import { ACTIONS, type Action } from './actions.js';
import { parse } from './parse.js';
import type { CommandName } from './table.js';

/**
 * The command line of this process: runs it and sets the exit code. `early`: a worker that was started before anything
 * was known of the command.
 */
export const main = async (argv: readonly string[], early: Worker | null = null): Promise<void> => {
  const { io, interruption, release } = processIo();
  const code = await runCommandLine(argv, { ...io, startThreads: threadsOf(early) }, interruption);
  release();
  // What was interrupted may still wait for something (stdin, a worker): it is not waited for.
  if (interruption() !== null) process.exit(code);
  process.exitCode = code;
};

/** The first model gets the worker that is there already. Tokenizers are loaded here, where nothing else is to be done. */
const threadsOf = (early: Worker | null): StartThreads => {
  let ready = early;
  return () => {
    const model = ready ?? startModelThread();
    ready = null;
    return { model, tokenizer: HERE };
  };
};

/** Exit code: 0 done, 1 error, 2 not understood, 130 interrupted. */
export const runCommandLine = async (
  argv: readonly string[],
  io: Io,
  interruption: () => Interruption | null = () => null,
): Promise<number> => {
  const report = (error: unknown): Promise<void> =>
    printError(io, error, {
      json: argv.includes('--json'),
      debug: argv.includes('--debug'),
      colors: colorsFor(io, io.stderr),
    });
  let code: number;
  try {
    code = await runRequest(argv, withErrorsAs(argv, io));
  } catch (error) {
    if (interruption() === null) await report(error);
    code = isKvadError(error) && error.code === 'KVAD_E_USAGE' ? 2 : 1;
  }
  // A stream tells of the last write that failed in the next turn of the event loop.
  await setImmediate();
  const stopped = interruption();
  if (stopped === null) return code;
  if (stopped === 'signal') return 130;
  if (stopped === 'reader-gone') return 0;
  await report(stopped);
  return 1;
};

/** Threads and files that this one opens say their errors as it does. */
const withErrorsAs = (argv: readonly string[], io: Io): Io => {
  const env = { ...io.env, ...(argv.includes('--json') && { KVAD_ERRORS: 'json' }) };
  sayErrorsAs(env);
  return { ...io, env };
};

const runRequest = async (argv: readonly string[], io: Io): Promise<number> => {
  const request = parse(argv);
  if (request.kind === 'help') {
    await write(request.asked ? io.stdout : io.stderr, request.text);
    return request.asked ? 0 : 2;
  }
  const { name, args, options } = request.given;
  // The table ties arguments and options to the name; TypeScript does not follow that through a union.
  const action = (await ACTIONS[name]()) as Action<CommandName>;
  return action(io, { args, options } as Parameters<Action<CommandName>>[1]);
};
