import type { WeightSlot } from '../axes/parts.js';

/** A slot of a plan by its full name (`layers.3.mixer.q.weight`), with shape and role. */
export interface PlannedSlot extends WeightSlot {
  /** Name with the layer number replaced by `{layer}`, as weight rules spell it. */
  readonly pattern: string;
  readonly layer: number | null;
}
