import type { ElementType } from '../kernels/tensor.js';

/** How a state grows and whether it can be cut back; see DESIGN 3. */
export type StateKind = 'kv' | 'latent' | 'ring' | 'rows' | 'conv' | 'recurrent';

/**
 * One named memory of an op at one visit of the schedule.
 * Growing kinds (`kv`, `latent`, `rows`) hold one row of `shape` a token; fixed kinds hold `shape` once.
 */
export interface StateSpec {
  readonly name: string;
  readonly kind: StateKind;
  readonly shape: readonly number[];
  /** `cache`: what `--kv-cache-dtype` says; otherwise fixed. */
  readonly dtype: ElementType | 'cache';
  /** Value of every element at the start. */
  readonly init: number;
  /** `any`: cut to any length; `bounded`: a few tokens back; `none`: snapshots only. */
  readonly rollback: 'any' | 'bounded' | 'none';
  /** `rows` only: one row every so many tokens. */
  readonly every?: number;
}

export const growing = (kind: StateKind): boolean => kind === 'kv' || kind === 'latent' || kind === 'rows';
