import type { PullProgress } from '@kvad/core';
import { write, type Io } from '../io/io.js';
import { clock, formatBytes } from '../io/quantities.js';

const ERASE = '\r\u001b[K';
const REDRAW_EVERY = 100;
/** The speed is that of so many milliseconds before. */
const WINDOW = 5000;

/** How far a download is, on one line of a terminal: nothing where stderr is none. */
export class PullProgressLine {
  readonly #io: Io;
  readonly #now: () => number;
  /** What was there at which time, the oldest first. */
  readonly #points: { time: number; bytes: number }[] = [];
  #drawn = -Infinity;

  constructor(io: Io, now: () => number = () => performance.now()) {
    this.#io = io;
    this.#now = now;
  }

  readonly show = (progress: PullProgress): void => {
    const { stderr } = this.#io;
    if (stderr.isTTY !== true) return;
    const time = this.#now();
    if (time - this.#drawn < REDRAW_EVERY) return;
    this.#drawn = time;
    this.#points.push({ time, bytes: progress.bytes });
    while (this.#points.length > 2 && time - this.#points[0]!.time > WINDOW) this.#points.shift();
    void write(stderr, ERASE + progressText(progress, this.#speed()).slice(0, (stderr.columns ?? 80) - 1));
  };

  /** Bytes a second; 0 until there is something to measure. */
  #speed(): number {
    const [first, last] = [this.#points[0]!, this.#points.at(-1)!];
    return last.time > first.time ? ((last.bytes - first.bytes) * 1000) / (last.time - first.time) : 0;
  }

  /** What comes next begins on an empty line. */
  async clear(): Promise<void> {
    if (this.#drawn > -Infinity) await write(this.#io.stderr, ERASE);
    this.#drawn = -Infinity;
  }
}

/** `45 % ▕██████        ▏ 1.20 GB of 2.67 GB · 3 of 9 files · 35.2 MB/s · ETA 0:42` */
export const progressText = ({ bytes, totalBytes, files, totalFiles }: PullProgress, speed: number): string => {
  const share = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
  const bar = '█'.repeat(Math.round(share * 14)).padEnd(14);
  return [
    `${Math.floor(share * 100)} % ▕${bar}▏ ${formatBytes(bytes)} of ${formatBytes(totalBytes)}`,
    `${files} of ${totalFiles} files`,
    ...(speed > 0 ? [`${formatBytes(Math.round(speed))}/s`, `ETA ${clock((totalBytes - bytes) / speed)}`] : []),
  ].join(' · ');
};
