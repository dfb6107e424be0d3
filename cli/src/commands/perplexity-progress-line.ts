import type { PerplexityProgress } from '@kvad/core';
import { write, type Io } from '../io/io.js';
import { clock, perSecond } from '../io/quantities.js';

/** The running estimate, with the time that is left, on one line of a terminal. */
export interface ProgressLine {
  readonly show: (progress: PerplexityProgress) => void;
  /** Removes it: what comes next begins on an empty line. */
  clear(): Promise<void>;
}

const ERASE = '\r\u001b[K';

/** Nothing where stderr is no terminal. */
export const progressLine = ({ stderr }: Io): ProgressLine => {
  let shown = false;
  return {
    show: (progress) => {
      if (stderr.isTTY !== true) return;
      shown = true;
      void write(stderr, ERASE + progressText(progress).slice(0, (stderr.columns ?? 80) - 1));
    },
    clear: async () => {
      if (shown) await write(stderr, ERASE);
      shown = false;
    },
  };
};

/** `[12/121] PPL 2.0822 ± 0.0385 · KLD 0.07222 · 1523 tok/s · ETA 0:42` */
export const progressText = (progress: PerplexityProgress): string => {
  const { windowsDone, windows, windowsResumed, perplexity, perplexityUncertainty, meanKld, seconds } = progress;
  const left = (seconds / (windowsDone - windowsResumed)) * (windows - windowsDone);
  return [
    `[${windowsDone}/${windows}] PPL ${fixed(perplexity, 4)} ± ${fixed(perplexityUncertainty, 4)}`,
    ...(meanKld === null ? [] : [`KLD ${fixed(meanKld, 5)}`]),
    `${perSecond(progress.prefillTokens, seconds * 1000).toFixed(0)} tok/s`,
    `ETA ${clock(left)}`,
  ].join(' · ');
};

const fixed = (value: number | null, digits: number): string => value?.toFixed(digits) ?? '-';
