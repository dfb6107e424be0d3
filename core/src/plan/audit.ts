/** What became of each key of a config.json. Paths are dotted: `rope_parameters.factor`. */
export interface ConfigAudit {
  readonly file: string;
  readonly read: readonly string[];
  readonly inert: readonly { readonly key: string; readonly reason: string }[];
  /** Keys that nobody reads and nobody declared: the model is refused, or with `--lenient` runs with a warning. */
  readonly refused: readonly { readonly key: string; readonly value: unknown }[];
}

/** What became of each tensor of a checkpoint and each slot of a plan. */
export interface WeightAudit {
  /** `slot` and the tensor names that were looked for. */
  readonly missing: readonly { readonly slot: string; readonly tensors: readonly string[] }[];
  readonly unexpected: readonly string[];
  readonly misshaped: readonly {
    readonly slot: string;
    readonly tensor: string;
    readonly expected: readonly number[];
    readonly found: readonly number[];
    /** Why no transform of the weight map was possible. */
    readonly reason?: string;
  }[];
  /** Stored tensors that the slots together do not use up: the plan cuts a fused tensor up wrongly. */
  readonly partlyRead: readonly {
    readonly tensor: string;
    readonly slots: readonly string[];
    readonly elements: number;
    readonly read: number;
  }[];
  /** Stored in a type that cannot fill the slot; never reported as missing. */
  readonly unreadable: readonly { readonly tensor: string; readonly dtype: string; readonly file: string }[];
  readonly unneeded: readonly { readonly pattern: string; readonly reason: string; readonly count: number }[];
  /** What probably happened, in a sentence; null where nothing is wrong. */
  readonly diagnosis: string | null;
}
