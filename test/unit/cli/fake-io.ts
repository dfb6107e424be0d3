import { PassThrough, Readable, Writable } from 'node:stream';
import type { Io, Output } from '../../../cli/dist/io/io.js';

const NOWHERE = '/nonexistent/kvad-tests';

/** An `Io` in memory: what a command wrote can be read afterwards. */
export interface FakeIo extends Io {
  readonly out: () => string;
  readonly err: () => string;
}

export const fakeIo = (
  given: { stdin?: string | Buffer; tty?: boolean; env?: Record<string, string>; cwd?: string } = {},
): FakeIo => {
  const stdout = sink(given.tty === true);
  const stderr = sink(given.tty === true);
  return {
    stdin: given.stdin === undefined ? new PassThrough() : Readable.from([given.stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    // The choice and the cache of whoever runs the tests are not looked at.
    env: { XDG_CONFIG_HOME: NOWHERE, HF_HOME: NOWHERE, ...given.env },
    cwd: given.cwd ?? process.cwd(),
    interrupt: new AbortController().signal,
    out: stdout.text,
    err: stderr.text,
  };
};

const sink = (isTTY: boolean): { stream: Output; text: () => string } => {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), text: () => text };
};
