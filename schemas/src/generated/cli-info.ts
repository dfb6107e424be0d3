/** Generated from cli-info.schema.json by `npm run generate`: change that file. */

/**
 * `kvad info --json`. Bytes and elements.
 */
export interface CliInfo {
  object: 'kvad.info';
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
  about: string;
  plugin: {
    name: string;
    version: string;
    origin: 'flag' | 'project' | 'user' | 'bundled';
  };
  shape: {
    layers: number;
    hidden_size: number;
    vocab_size: number;
    context_length: number;
    mixers: InfoOp[];
    ffns: {
      kind: string;
      count: number;
    }[];
  };
  parameters: {
    /**
     * elements of all weights, shared ones once
     */
    total: number;
    /**
     * elements that one token uses
     */
    active: number;
  };
  stored: {
    files: number;
    bytes: number;
    dtypes: {
      [k: string]: number;
    };
  };
  /**
   * bytes of the weights when matrices are held so
   */
  memory: {
    f32: number;
    bf16: number;
    q8: number;
    q4: number;
  };
  state: {
    kv_cache_dtype: 'f16' | 'f32';
    /**
     * of states that grow; a state with one row every n tokens counts a share
     */
    bytes_per_token: number;
    fixed_bytes: number;
    bytes_at_full_context: number;
  };
  text: {
    tokenizer: string | null;
    template: string | null;
    eos: {
      id: number;
      token: string | null;
      source: string;
    }[];
    bos: {
      id: number;
      added: boolean;
    } | null;
  } | null;
  /**
   * what run takes where no flag is given
   */
  sampling: {
    [k: string]: {
      value: number;
      source: string;
    };
  };
  /**
   * keys of config.json that nobody knows: only with --lenient
   */
  refused_keys: {
    key: string;
    value: unknown;
  }[];
  /**
   * what the user was warned of
   */
  warnings: string[];
}
export interface InfoOp {
  kind: string;
  /**
   * how many of it a forward runs
   */
  count: number;
}
