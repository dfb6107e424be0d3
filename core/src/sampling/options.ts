import { KvadError } from '../errors/kvad-error.js';
import type { SamplingOptions } from '../runtime/types.js';

/** What applies where neither the caller nor the model's generation_config.json says otherwise. */
export const SAMPLING_DEFAULTS: SamplingOptions = {
  temperature: 0.7,
  topK: 40,
  topP: 0.95,
  minP: 0,
  repeatPenalty: 1,
  repeatWindow: 64,
  seed: 7,
};

interface Range {
  readonly expected: string;
  holds(value: number): boolean;
}

const integer = (least: number): Range => ({
  expected: `an integer of at least ${least}`,
  holds: (v) => Number.isSafeInteger(v) && v >= least,
});

const RANGES: Readonly<Record<keyof SamplingOptions, Range>> = {
  temperature: { expected: 'a number of at least 0', holds: (v) => Number.isFinite(v) && v >= 0 },
  topK: integer(0),
  topP: { expected: 'a number in (0, 1]', holds: (v) => v > 0 && v <= 1 },
  minP: { expected: 'a number in [0, 1)', holds: (v) => v >= 0 && v < 1 },
  repeatPenalty: { expected: 'a number above 0', holds: (v) => Number.isFinite(v) && v > 0 },
  repeatWindow: integer(0),
  seed: integer(0),
};

/** The caller's options before the model's, the model's before kvad's; each checked. Throws KVAD_E_OPTION. */
export const resolveSampling = (
  asked: Partial<SamplingOptions>,
  model: Partial<SamplingOptions> = {},
): SamplingOptions => {
  const names = Object.keys(SAMPLING_DEFAULTS) as (keyof SamplingOptions)[];
  const chosen = names.map((name): [keyof SamplingOptions, number] => {
    const value = asked[name] ?? model[name] ?? SAMPLING_DEFAULTS[name];
    if (!RANGES[name].holds(value)) {
      throw new KvadError('KVAD_E_OPTION', { option: name, value: String(value), expected: RANGES[name].expected });
    }
    return [name, value];
  });
  return Object.fromEntries(chosen) as unknown as SamplingOptions;
};
