import type { Readable, Writable } from 'node:stream';
import type { StartThreads } from '../start-threads.js';

/** A stream that the command line writes to. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The world as a command sees it. Nothing else in `cli/` touches `process`. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The answer, and nothing else. */
  readonly stdout: Output;
  /** Progress, warnings, errors. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by Ctrl-C, and when whoever reads stdout has gone. */
  readonly interrupt: AbortSignal;
  /** Gives the threads that were started with the process, then others; absent: they are started when a model is loaded. */
  readonly startThreads?: StartThreads;
}

/** Writes and waits until the stream wants more, so that a slow reader holds the writer back. */
export const write = async (stream: Output, text: string): Promise<void> => {
  if (stream.destroyed || text === '') return;
  if (stream.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('error', done);
      resolve();
    };
    stream.on('drain', done).on('close', done).on('error', done);
  });
};

export const writeLine = (stream: Output, line: string): Promise<void> => write(stream, `${line}\n`);

export const writeJson = (stream: Output, value: unknown): Promise<void> => write(stream, jsonText(value));

/** One JSON document and a newline; a list of numbers stands on one line. */
export const jsonText = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(/\[\s+([-+.,\deE\s]+?)\s+\]/g, numbersOnOneLine)}\n`;

const numbersOnOneLine = (_list: string, numbers: string): string => `[${numbers.replace(/\s+/g, ' ')}]`;
