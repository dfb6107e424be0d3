import type { PlannedSlot } from '../plan/planned-slot.js';
import type { Transform, WeightRule } from '../plan/weight-rules.js';
import type { Checkpoint } from './checkpoint.js';
import type { LazyTensor } from './lazy-tensor.js';

export interface BindRequest {
  readonly slots: readonly PlannedSlot[];
  readonly rules: readonly WeightRule[];
  /** The plan's `head.tied`: the head is the embedding. */
  readonly tied: boolean;
  readonly checkpoint: Checkpoint;
}

/** A slot with the tensors that fill it. */
export interface Binding {
  readonly slot: PlannedSlot;
  /** Names of the stored tensors. */
  readonly names: readonly string[];
  readonly transform: readonly Transform[];
  readonly tensor: LazyTensor;
}

/** Equal for two slots that hold the same values. */
export const sourceKey = ({ names, transform }: Pick<Binding, 'names' | 'transform'>): string =>
  [names.join(' + '), ...transform.map(spellTransform)].join(' | ');

const spellTransform = ({ op, ...options }: Transform): string =>
  Object.keys(options).length === 0 ? op : `${op} ${JSON.stringify(options)}`;
