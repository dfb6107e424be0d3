import { spawn } from 'node:child_process';
import path from 'node:path';
import { schemaCompiler } from '@kvad/core';
import { schema } from '@kvad/schemas';
import { expect } from 'vitest';
import { runCommandLine } from '../../cli/dist/commands/main.js';
import { fakeIo } from '../unit/cli/fake-io.js';
import type { Home } from './temporary-home.js';

export interface Played {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

interface PlayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly tty?: boolean;
  readonly stdin?: string;
  /** What stderr may hold. */
  readonly warns?: RegExp;
}

/** A command line in this process, in a user's home. */
export const play = async (home: Home, words: readonly string[], options: PlayOptions = {}): Promise<Played> => {
  const { env, signal, tty = false, stdin } = options;
  const io = fakeIo({ cwd: home.folder, env: { ...home.env, ...env }, tty, ...(stdin === undefined ? {} : { stdin }) });
  const interrupt = signal ?? io.interrupt;
  const input = Object.assign(io.stdin, { isTTY: tty });
  const exit = await runCommandLine(words, { ...io, interrupt, stdin: input }, () =>
    interrupt.aborted ? 'signal' : null,
  );
  return { exit, out: io.out(), err: io.err() };
};

const ajv = schemaCompiler({ validateSchema: true });

/** The same with `--json`, whose output is held against its schema. */
export const playJson = async <T>(
  home: Home,
  name: string,
  words: readonly string[],
  options: PlayOptions = {},
): Promise<T> => {
  const { exit, out, err } = await play(home, [...words, '--json'], options);
  expect({ exit, err }).toEqual({ exit: 0, err: expect.stringMatching(options.warns ?? /^$/) as string });
  const object = JSON.parse(out) as T;
  const valid = ajv.getSchema(`https://kvad.dev/schemas/${name}.schema.json`) ?? ajv.compile(schema(name));
  const fits = valid(object);
  expect(valid.errors ?? []).toEqual([]);
  expect(fits).toBe(true);
  return object;
};

const program = path.resolve(import.meta.dirname, '../../cli/bin/kvad.js');

/** A command line in a process of its own; `pid` and `kill` while it runs. */
export const spawnKvad = (home: Home, words: readonly string[]): { kill(): void; done: Promise<Played> } => {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: home.folder,
    env: { ...process.env, ...home.env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const done = new Promise<Played>((resolve, reject) => {
    child.on('error', reject).on('close', (exit) => resolve({ exit, out, err }));
  });
  child.stdin.end();
  return { kill: () => void child.kill('SIGINT'), done };
};
