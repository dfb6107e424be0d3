import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import { scoringFileError } from './file-error.js';
import type { WindowOutcome } from './window-outcome.js';

/** What decides the numbers of a run. */
export type RunIdentity = Readonly<Record<string, string | number | null>>;

/**
 * The windows of a run that are done, a line of JSON each after one that says which run it is. A line is written when
 * its window is done, so that a process that is killed loses one window.
 */
export class Progress {
  readonly #file: string;
  readonly #fd: number;

  private constructor(file: string, fd: number) {
    this.#file = file;
    this.#fd = fd;
  }

  /**
   * The outcomes that the file holds, in order from the first window on; none where there is no file, and none behind
   * a line that was cut off. Throws KVAD_E_SCORING_RESUME for another run, KVAD_E_FILE.
   */
  static read(file: string, identity: RunIdentity): WindowOutcome[] {
    if (!existsSync(file)) return [];
    const [first = '', ...lines] = failing('read', file, () => readFileSync(file, 'utf8')).split('\n');
    const before = parsed(first) as { run?: RunIdentity } | null;
    if (!before?.run) return [];
    refuseOther(file, before.run, identity);
    // What stands behind the last newline was being written when the process ended.
    const outcomes = lines.slice(0, -1).map((line) => parsed(line) as WindowOutcome | null);
    const wrong = outcomes.findIndex((outcome, index) => outcome?.index !== index);
    return (wrong < 0 ? outcomes : outcomes.slice(0, wrong)) as WindowOutcome[];
  }

  /** Begins the file anew with these outcomes; it is never without those that it had. Throws KVAD_E_FILE. */
  static begin(file: string, identity: RunIdentity, done: readonly WindowOutcome[]): Progress {
    return failing('write', file, () => {
      const fresh = `${file}.new`;
      writeFileSync(fresh, [{ run: identity }, ...done].map(line).join(''));
      renameSync(fresh, file);
      return new Progress(file, openSync(file, 'a'));
    });
  }

  add(outcome: WindowOutcome): void {
    failing('write', this.#file, () => writeSync(this.#fd, line(outcome)));
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const refuseOther = (file: string, before: RunIdentity, now: RunIdentity): void => {
  for (const what of Object.keys({ ...before, ...now })) {
    if (before[what] === now[what]) continue;
    const words = { before: String(before[what]), now: String(now[what]) };
    throw new KvadError('KVAD_E_SCORING_RESUME', { file, what: what.replaceAll('_', ' '), ...words });
  }
};

/** JSON knows no infinities: they are written as words. Other numbers come back with the same bits. */
const line = (value: unknown): string =>
  `${JSON.stringify(value, (_, part: unknown) => (typeof part === 'number' && !Number.isFinite(part) ? String(part) : part))}\n`;

const NOT_FINITE: Readonly<Record<string, number>> = { Infinity, '-Infinity': -Infinity, NaN };

/** null: a line that was cut off. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text, (_, part: unknown) => (typeof part === 'string' ? (NOT_FINITE[part] ?? part) : part));
  } catch {
    return null;
  }
};

const failing = <T>(action: 'read' | 'write', file: string, act: () => T): T => {
  try {
    return act();
  } catch (cause) {
    throw scoringFileError(action, file, cause);
  }
};
