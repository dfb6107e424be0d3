import { KvadError } from '../errors/kvad-error.js';
import type { RawConfig } from '../plan/config-source.js';
import type { SamplingOptions } from '../runtime/types.js';
import { isNothing } from './json-file.js';

/** What a model's generation_config.json says about sampling. */
export interface GenerationDefaults {
  /** Values that stand before kvad's own; flags stand before both. */
  readonly sampling: Partial<SamplingOptions>;
  /** For each value of `sampling`, the key that it was read from. */
  readonly sources: Readonly<Partial<Record<keyof SamplingOptions, string>>>;
  /** Keys that kvad does not apply and that would change the text. */
  readonly unapplied: readonly string[];
  /** Keys that were not read, those of `unapplied` included. */
  readonly ignored: readonly string[];
}

interface Rule {
  readonly option: keyof SamplingOptions;
  readonly expected: string;
  holds(value: number): boolean;
}

const RULES: Readonly<Record<string, Rule>> = {
  temperature: { option: 'temperature', expected: 'a number of at least 0', holds: (v) => v >= 0 },
  top_k: { option: 'topK', expected: 'an integer of at least 0', holds: (v) => Number.isSafeInteger(v) && v >= 0 },
  top_p: { option: 'topP', expected: 'a number in (0, 1]', holds: (v) => v > 0 && v <= 1 },
  min_p: { option: 'minP', expected: 'a number in [0, 1)', holds: (v) => v >= 0 && v < 1 },
  repetition_penalty: { option: 'repeatPenalty', expected: 'a number above 0', holds: (v) => v > 0 },
};

/** Read elsewhere, or about lengths, caches and outputs of other programs. */
const INERT: ReadonlySet<string> = new Set([
  ...['bos_token_id', 'eos_token_id', 'pad_token_id', 'transformers_version', '_from_model_config'],
  ...['max_length', 'max_new_tokens', 'use_cache', 'cache_implementation', 'chat_format', 'trust_remote_code'],
  ...['output_attentions', 'output_hidden_states', 'output_scores', 'output_logits', 'return_dict_in_generate'],
]);

/** Keys that change what is generated, with the value at which they do nothing. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  num_beams: 1,
  num_beam_groups: 1,
  length_penalty: 1,
  diversity_penalty: 0,
  penalty_alpha: 0,
  typical_p: 1,
  top_h: 1,
  epsilon_cutoff: 0,
  eta_cutoff: 0,
  encoder_repetition_penalty: 1,
  no_repeat_ngram_size: 0,
  min_length: 0,
  min_new_tokens: 0,
  presence_penalty: 0,
  frequency_penalty: 0,
  guidance_scale: 1,
  renormalize_logits: false,
  remove_invalid_values: false,
  bad_words_ids: [],
  suppress_tokens: [],
  begin_suppress_tokens: [],
  sequence_bias: {},
  stop_strings: [],
  forced_bos_token_id: [],
  forced_eos_token_id: [],
  exponential_decay_length_penalty: [],
  watermarking_config: {},
};

/**
 * Sampling values of a generation_config.json (`file`: its path, for messages); null: there is none. `do_sample: false`
 * is greedy decoding. A repetition penalty looks at all tokens so far, as in transformers.
 * Throws KVAD_E_TEXT_VALUE for a value that is out of its range.
 */
export const generationDefaults = (config: RawConfig | null, file: string): GenerationDefaults => {
  const sampling: Partial<Record<keyof SamplingOptions, number>> = {};
  const sources: Partial<Record<keyof SamplingOptions, string>> = {};
  const present = Object.entries(config ?? {}).filter(([, value]) => !isNothing(value));
  for (const [key, value] of present) {
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
    if (rule === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || !rule.holds(value)) {
      throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value, expected: rule.expected });
    }
    sampling[rule.option] = value;
    sources[rule.option] = key;
  }
  if (sampling.repeatPenalty !== undefined) {
    sampling.repeatWindow = Number.MAX_SAFE_INTEGER;
    sources.repeatWindow = 'repetition_penalty';
  }
  const doSample = config?.['do_sample'] ?? true;
  if (typeof doSample !== 'boolean') {
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key: 'do_sample', value: doSample, expected: 'true or false' });
  }
  if (!doSample) {
    sampling.temperature = 0;
    sources.temperature = 'do_sample';
  }
  const ignored = present.map(([key]) => key).filter((key) => !isRead(key));
  return { sampling, sources, ignored, unapplied: ignored.filter((key) => changesText(key, config?.[key])) };
};

const isRead = (key: string): boolean => Object.hasOwn(RULES, key) || key === 'do_sample' || INERT.has(key);

const changesText = (key: string, value: unknown): boolean =>
  Object.hasOwn(NEUTRAL, key) && JSON.stringify(NEUTRAL[key]) !== JSON.stringify(value);
