import type { ModelPlan } from '@kvad/schemas';
import { bindWeights, refuseBadWeights } from '../checkpoint/bind.js';
import type { BoundWeights } from '../checkpoint/checkpoint.js';
import { openCheckpoint } from '../checkpoint/open.js';
import type { Ops } from '../kernels/ops.js';
import type { PlannedModel } from '../plan/plan-model.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import { planSlots } from '../plan/slots.js';
import type { PartRegistry } from '../runtime/part-registry.js';
import { openQuantisedWeights, type QuantisedWeights } from '../runtime/quantised-weights.js';
import { randomQuantised, randomWeights } from './random-weights.js';
import type { BenchPrecision, Variant } from './variants.js';

/** A model to measure, whatever its weights are. */
export interface BenchSource {
  readonly name: string;
  readonly plan: ModelPlan;
  readonly parts: PartRegistry;
  readonly slots: readonly PlannedSlot[];
  weights(precision: BenchPrecision): BoundWeights;
  /** Where quantised matrices come from; null for other precisions. */
  quantised(variant: Variant, ops: Ops): QuantisedWeights | null;
  close(): void;
}

const isQuantised = ({ precision }: Variant): boolean => precision === 'q8' || precision === 'q4';

/** Random weights in memory: speed can be measured without a checkpoint. */
export const planSource = (name: string, plan: ModelPlan, parts: PartRegistry): BenchSource => {
  const slots = planSlots(plan, parts);
  return {
    name,
    plan,
    parts,
    slots,
    weights: (precision) => randomWeights(plan, slots, precision),
    quantised: (variant, ops) => (isQuantised(variant) ? randomQuantised(slots, ops) : null),
    close: () => undefined,
  };
};

/** The weights of a folder, through the quant cache as a load would. Throws what binding throws. */
export const folderSource = (
  directory: string,
  { plan, rules }: Pick<PlannedModel, 'plan' | 'rules'>,
  parts: PartRegistry,
): BenchSource => {
  const slots = planSlots(plan, parts);
  const checkpoint = openCheckpoint(directory);
  const { weights, audit } = bindWeights({ slots, rules, tied: plan.head.tied, checkpoint });
  refuseBadWeights(audit, { directory });
  return {
    name: directory,
    plan,
    parts,
    slots,
    weights: () => weights,
    quantised: (variant, ops) => {
      const pieces = { directory, checkpoint, slots, weights, ops, quant: variant.precision };
      return isQuantised(variant) ? openQuantisedWeights(pieces) : null;
    },
    close: () => {
      checkpoint.close();
    },
  };
};
