import type { KvadError } from '@kvad/core/errors';
import type { Io } from './io.js';
import { fileError } from './read-input.js';

/** Why a command was stopped from outside; an error: its answer cannot be written. */
export type Interruption = 'signal' | 'reader-gone' | KvadError;

/**
 * The real process. The first SIGINT or SIGTERM aborts `interrupt`, a second one ends the process at once. A closed
 * pipe (EPIPE) aborts it too, quietly: `kvad run … | head` is not an error.
 */
export const processIo = (): { io: Io; interruption(): Interruption | null; release(): void } => {
  const controller = new AbortController();
  let interruption: Interruption | null = null;

  const stop = (why: Interruption): void => {
    interruption ??= why;
    controller.abort();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (interruption !== 'signal') return stop('signal');
    // `process.exit` would wait for the threads, and one of them may be why the first signal has not been enough.
    process.off(signal, onSignal);
    process.kill(process.pid, signal);
  };
  const onStreamError =
    (name: string) =>
    (error: NodeJS.ErrnoException): void => {
      stop(error.code === 'EPIPE' ? 'reader-gone' : fileError('write', name, error));
    };

  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  process.stdout.on('error', onStreamError('stdout'));
  process.stderr.on('error', onStreamError('stderr'));

  return {
    io: {
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      env: process.env,
      cwd: process.cwd(),
      interrupt: controller.signal,
    },
    interruption: () => interruption,
    release: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  };
};
