/** Generated from cli-chat.schema.json by `npm run generate`: change that file. */

/**
 * `kvad chat --json`
 */
export interface CliChat {
  object: 'kvad.chat';
  /**
   * owner/name[@revision] as it was given, or the folder
   */
  model: string;
  /**
   * folder of the checkpoint
   */
  folder: string;
  family: string;
  model_type: string;
  /**
   * it has no chat template: the text of the conversation was continued
   */
  base_model: boolean;
  turns: ChatTurn[];
  /**
   * the conversation at the end, as kvad render reads it
   */
  messages: {
    role: string;
  }[];
  sampling: RunSampling;
  config: RunConfig;
  load_ms: number;
  /**
   * what the user was warned of
   */
  warnings: string[];
}
export interface ChatTurn {
  /**
   * the message that is answered
   */
  prompt: string;
  /**
   * the answer
   */
  text: string;
  /**
   * null: an error ended the turn
   */
  finish_reason: 'stop' | 'stop-string' | 'length' | 'context' | 'aborted' | null;
  error: {
    code: string;
    message: string;
  } | null;
  /**
   * messages that no longer fitted the context before this turn
   */
  left_out_messages: number;
  prompt_tokens: number;
  reused_tokens: number;
  generated_tokens: number;
  prefill_ms: number;
  decode_ms: number;
  decode_tokens_per_second: number;
}
export interface RunSampling {
  temperature: number;
  top_k: number;
  top_p: number;
  min_p: number;
  repeat_penalty: number;
  repeat_window: number;
  seed: number;
  max_tokens: number;
}
export interface RunConfig {
  /**
   * null: as stored
   */
  quant: 'f32' | 'bf16' | 'f16' | 'q8' | 'q4' | null;
  kv_cache_dtype: 'f16' | 'f32';
  kernels: string;
  threads: number;
  batch_size: number;
}
