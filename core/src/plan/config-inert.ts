import { isObject } from './config-source.js';

/**
 * Keys of any published config that no forward pass depends on, with the reason. What a family reads counts as read,
 * whatever stands here. A key belongs here only if it cannot change the arithmetic of any family: dropout rates,
 * auxiliary losses and the switches of one architecture are that family's to declare.
 */
interface InertKey {
  readonly reason: string;
  /** Only these values are inert; any other is judged like an unknown key. */
  readonly when?: (value: unknown) => boolean;
}

const off = (value: unknown): boolean => value === false;
const empty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

const keys = (reason: string, names: string, when?: InertKey['when']): [string, InertKey][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, when === undefined ? { reason } : { reason, when }]);

const COMMON: ReadonlyMap<string, InertKey> = new Map([
  ...keys('names the Python class; model_type decides here', 'architectures'),
  ...keys('points at Python code, which is never run', 'auto_map custom_pipelines'),
  ...keys(
    'tells where the file came from',
    '_name_or_path name_or_path _commit_hash transformers_version _from_model_config unsloth_version unsloth_fixed',
  ),
  ...keys('each stored tensor says its own type', 'torch_dtype dtype use_bfloat16'),
  ...keys(
    'the text side reads token ids; the forward pass takes any',
    'bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id decoder_start_token_id tokenizer_class ' +
      'prefix',
  ),
  ...keys('draws the first weights of a training run', 'initializer_range initializer_factor init_std'),
  ...keys('trades memory for time in training', 'gradient_checkpointing'),
  ...keys('the state of a sequence is always kept', 'use_cache cache_implementation'),
  ...keys(
    'chooses what the Python call returns',
    'output_attentions output_hidden_states output_scores output_past return_dict return_dict_in_generate ' +
      'tie_last_hidden_states',
  ),
  ...keys(
    'chooses one of several Python kernels for the same arithmetic',
    '_attn_implementation attn_implementation _attn_implementation_internal _attn_implementation_autoset ' +
      '_experts_implementation experts_implementation _flash_attn_2_enabled torchscript tf_legacy_loss',
  ),
  ...keys('computes the same rows in pieces', 'chunk_size_feed_forward'),
  ...keys(
    'labels of a classifier, which a language model does not have',
    'id2label label2id num_labels _num_labels problem_type finetuning_task task_specific_params',
  ),
  ...keys('settings of another runtime', 'transformers.js_config'),
  ...keys('there is no encoder', 'is_encoder_decoder add_cross_attention tie_encoder_decoder', off),
  ...keys('no heads are pruned', 'pruned_heads', empty),
  ...keys(
    'a generation setting: generation_config.json and the flags decide',
    'max_length max_new_tokens min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty ' +
      'temperature top_k top_p typical_p epsilon_cutoff eta_cutoff repetition_penalty encoder_repetition_penalty ' +
      'length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences ' +
      'forced_bos_token_id forced_eos_token_id remove_invalid_values exponential_decay_length_penalty ' +
      'suppress_tokens begin_suppress_tokens assistant_confidence_threshold assistant_lookbehind ' +
      'num_assistant_tokens num_assistant_tokens_schedule target_lookbehind',
  ),
]);

/** Why this top-level key with this value changes nothing in any model; undefined if it may. */
export const commonInertReason = (key: string, value: unknown): string | undefined => {
  const inert = COMMON.get(key);
  return inert !== undefined && (inert.when?.(value) ?? true) ? inert.reason : undefined;
};
