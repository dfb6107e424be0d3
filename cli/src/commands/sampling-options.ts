import { KvadError, type SamplingOptions } from '@kvad/core';
import { withoutUndefined } from './without-undefined.js';

/** The flags of `sampling-row.ts` that choose a token. */
export interface SamplingFlags {
  readonly greedy: boolean;
  readonly temperature: number | undefined;
  readonly topK: number | undefined;
  readonly topP: number | undefined;
  readonly minP: number | undefined;
  readonly repeatPenalty: number | undefined;
  readonly seed: number | undefined;
}

/** What was given; the rest is the model's, or kvad's. */
export const samplingFlags = (options: SamplingFlags): Partial<SamplingOptions> =>
  withoutUndefined({
    temperature: options.greedy ? 0 : options.temperature,
    topK: options.topK,
    topP: options.topP,
    minP: options.minP,
    repeatPenalty: options.repeatPenalty,
    seed: options.seed,
  });

/** Throws KVAD_E_USAGE. */
export const refuseContradictions = ({ greedy, temperature = 0 }: SamplingFlags, command: string): void => {
  if (!greedy || temperature === 0) return;
  throw new KvadError('KVAD_E_USAGE', { problem: '--greedy and --temperature contradict each other', command });
};
