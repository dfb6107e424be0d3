/**
 * A weight map is data: rules from slots of the plan to tensors of the checkpoint.
 * Slot names: `embedding.tokens.weight`, `embedding.positions.weight`, `embedding.norm.weight`,
 * `embedding.project.weight`, `layers.{layer}.<op name>.<slot of the part>`, `layers.{layer}.<op name>.norm.before.weight`
 * (also `after`, `sum`), `layers.{layer}.block.<slot>`, `inputs.<name>.<slot>`, `stack.<slot>`, `finalNorm.weight`,
 * `head.weight`, `head.bias`, `head.before.<i>.<slot>`.
 * A rule whose slot is not in the plan is idle (a bias that this model does not have).
 */
export type WeightRule = SlotRule | UnneededRule;

export interface SlotRule {
  /** `{layer}` stands for each layer number that has the slot. */
  readonly slot: string;
  /** The first one whose tensors the checkpoint has is taken. */
  readonly sources: readonly WeightSource[];
}

export interface WeightSource {
  /** Tensor name; `{layer}`, and `{expert}` where `stack` follows. Several names: `concat` follows. */
  readonly tensors: string | readonly string[];
  readonly transform: readonly Transform[];
}

export interface UnneededRule {
  /** Tensor name with `{layer}`, `{expert}`, or `*` for any run of characters. */
  readonly unneeded: string;
  readonly reason: string;
}

export const isSlotRule = (rule: WeightRule): rule is SlotRule => 'slot' in rule;

/**
 * What stands between stored tensors and a slot, applied in order. Up to `stack` a transform applies to each expert's
 * tensor, up to `concat` to each of the names. The stored element type stays (tensors of different types that are
 * joined become F32, exactly). Row slices and reshapes are views of the file.
 */
export type Transform =
  | { readonly op: 'transpose' }
  /** Rows `[start, start + count)` of axis 0. */
  | { readonly op: 'rows'; readonly start: number; readonly count: number }
  /** Axis 0 is `groups` groups of `size` rows; rows `[start, start + count)` of each group are kept. */
  | {
      readonly op: 'perGroup';
      readonly groups: number;
      readonly size: number;
      readonly start: number;
      readonly count: number;
    }
  /** Drops axes of length 1, or the one given. */
  | { readonly op: 'squeeze'; readonly axis?: number }
  | { readonly op: 'reshape'; readonly shape: readonly number[] }
  /** Tensors named with `{expert}` become one with a new axis 0 of that length. */
  | { readonly op: 'stack'; readonly count: number }
  /** Several tensors become one along an axis. */
  | { readonly op: 'concat'; readonly axis: number }
  /** Half of an axis that holds gate and up: halves (gate first) or interleaved (even: gate). */
  | {
      readonly op: 'split';
      readonly axis: number;
      readonly part: 'gate' | 'up';
      readonly layout: 'halves' | 'interleaved';
    }
  /** Swaps the last two axes of a rank 3 tensor. */
  | { readonly op: 'transposeLast' };

/** One tensor, no transform. */
export const from = (slot: string, tensor: string, ...transform: readonly Transform[]): SlotRule => ({
  slot,
  sources: [{ tensors: tensor, transform }],
});

/** The same rules once per prefix; the first whose tensors are present is taken. `{prefix}` stands for it. */
export const withPrefixes = (prefixes: readonly string[], rules: readonly WeightRule[]): WeightRule[] =>
  rules.flatMap((rule): WeightRule[] =>
    'unneeded' in rule
      ? prefixes.map((prefix) => ({ ...rule, unneeded: rule.unneeded.replace('{prefix}', prefix) }))
      : [
          {
            slot: rule.slot,
            sources: prefixes.flatMap((prefix) =>
              rule.sources.map((source) => ({
                ...source,
                tensors:
                  typeof source.tensors === 'string'
                    ? source.tensors.replace('{prefix}', prefix)
                    : source.tensors.map((name) => name.replace('{prefix}', prefix)),
              })),
            ),
          },
        ],
  );

export const unneeded = (pattern: string, reason: string): UnneededRule => ({ unneeded: pattern, reason });
