/** Generated from cli-arch-check.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch check MODEL --json`. Bytes and elements; what was not reached is null.
 */
export interface CliArchCheck {
  object: 'kvad.arch-check';
  /**
   * folder, or owner/name[@revision]
   */
  model: string;
  source: 'folder' | 'hub';
  /**
   * the verdict; false: see problems
   */
  runs: boolean;
  family: string | null;
  model_type: string | null;
  about: string | null;
  plugin: {
    name: string;
    version: string;
    origin: 'flag' | 'project' | 'user' | 'bundled';
  } | null;
  shape: {
    layers: number;
    hidden_size: number;
    vocab_size: number;
    context_length: number;
    mixers: {
      kind: string;
      /**
       * how many of it a forward runs
       */
      count: number;
    }[];
    ffns: {
      kind: string;
      count: number;
    }[];
  } | null;
  parameters: {
    /**
     * elements of all weights, shared ones once
     */
    total: number;
    /**
     * elements that one token uses
     */
    active: number;
  } | null;
  memory: {
    f32: number;
    bf16: number;
    q8: number;
    q4: number;
  } | null;
  stored: {
    files: number;
    bytes: number;
    dtypes: {
      [k: string]: number;
    };
  } | null;
  state: {
    kv_cache_dtype: 'f16' | 'f32';
    /**
     * of states that grow; a state with one row every n tokens counts a share
     */
    bytes_per_token: number;
    fixed_bytes: number;
    bytes_at_full_context: number;
  } | null;
  config: {
    /**
     * keys of config.json that were read
     */
    read: number;
    /**
     * keys that change nothing
     */
    inert: number;
    /**
     * keys of config.json that nobody knows: only with --lenient
     */
    refused: {
      key: string;
      value: unknown;
    }[];
  };
  weights: {
    missing: {
      slot: string;
      tensors: string[];
    }[];
    unexpected: string[];
    misshaped: {
      slot: string;
      tensor: string;
      expected: number[];
      found: number[];
    }[];
    partly_read: {
      tensor: string;
      elements: number;
      read: number;
    }[];
    unreadable: {
      tensor: string;
      dtype: string;
    }[];
    /**
     * tensors that the family does not need
     */
    unneeded: number;
    /**
     * what probably happened
     */
    diagnosis: string | null;
  } | null;
  /**
   * what keeps it from running
   */
  problems: CheckProblem[];
  warnings: string[];
  /**
   * loaded from the Hub; null: a folder
   */
  bytes_read: number | null;
}
export interface CheckProblem {
  code: string;
  message: string;
  hint: string;
}
