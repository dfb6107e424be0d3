/** Words for experts and what chooses them, so that a family says only what is special about it. */
import type { PartPlan } from '@kvad/schemas';
import { refuseConfig } from './config-refusal.js';

interface ExpertChoice {
  readonly experts: number;
  /** How many of them a token goes to. */
  readonly perToken: number;
  /** Columns of an expert's gate and up. */
  readonly size: number;
  readonly gating: GatingRule;
  /** Of all three projections. */
  readonly bias?: boolean;
  readonly router: PartPlan;
  /** What every token goes to besides. */
  readonly shared?: PartPlan | null;
}

/** How an expert joins its gate and up. */
export type GatingRule =
  /** `f(gate) * up` */
  | { readonly kind: 'activation'; readonly activation: PartPlan }
  /** `g σ(alpha g) (u + shift)` with `g = min(gate, limit)` and `u = up` cut to `[-limit, limit]` */
  | { readonly kind: 'clamped-swish'; readonly limit: number; readonly alpha: number; readonly shift: number };

export const activated = (activation: PartPlan): GatingRule => ({ kind: 'activation', activation });

export const clampedSwish = (limit: number, alpha: number, shift: number): GatingRule => ({
  kind: 'clamped-swish',
  limit,
  alpha,
  shift,
});

/** A feed-forward of gated experts. `perTokenKey` is the config's name of `perToken`. */
export const moe = ({ bias = false, shared = null, ...choice }: ExpertChoice, perTokenKey = 'num_experts_per_tok') => {
  if (choice.perToken > choice.experts)
    refuseConfig(perTokenKey, choice.perToken, `is more than the ${choice.experts} experts that there are`);
  return { kind: 'moe' as const, ...choice, bias, shared };
};

/** What the weights of the chosen experts are divided by. */
export type NormaliseRule =
  | { readonly by: 'nothing' }
  /** Their sum, to which `eps` is added. */
  | { readonly by: 'sum'; readonly eps: number }
  /** Their sum, or `floor` where it is less. */
  | { readonly by: 'clamped-sum'; readonly floor: number };

export const bySum = (eps = 0): NormaliseRule => ({ by: 'sum', eps });
export const byNothing: NormaliseRule = { by: 'nothing' };

/** Experts stand in groups, and a token goes to experts of its best groups only. */
export interface GroupRule {
  readonly count: number;
  /** How many groups a token may go to. */
  readonly keep: number;
  /** Strength of a group: its best score, or the sum of its two best. */
  readonly by: 'max' | 'sum-of-two';
  /** Scores of the other groups: 0, or one that no other is below. */
  readonly masked: 'zero' | 'lowest';
}

interface RuleChoice {
  readonly normalise: NormaliseRule;
  /** A learned bias is added to the scores for the choice, and does not count in the weights. */
  readonly selectionBias?: boolean;
  readonly groups?: GroupRule | null;
  /** Multiplies the weights. */
  readonly scale?: number;
}

const rule = ({ normalise, selectionBias = false, groups = null, scale = 1 }: RuleChoice) => ({
  selectionBias,
  groups,
  normalise,
  scale,
});

/** Scores by a softmax over all experts, of which the best are taken. */
export const softmaxRouter = (choice: RuleChoice): PartPlan => ({
  kind: 'softmax',
  options: { bias: false, rule: { order: 'softmax-then-top-k', ...rule(choice) } },
});

/** The best logits are taken, and the weights are their softmax. `bias`: the logits have one. */
export const topKSoftmaxRouter = ({ bias }: { readonly bias: boolean }): PartPlan => ({
  kind: 'softmax',
  options: { bias, rule: { order: 'top-k-then-softmax' } },
});

/** Each expert is scored by a sigmoid of its own; chosen with a learned bias unless said otherwise. */
export const sigmoidRouter = ({ selectionBias = true, ...choice }: RuleChoice): PartPlan => ({
  kind: 'sigmoid',
  options: { bias: false, rule: rule({ selectionBias, ...choice }) },
});

/** Keys of configs whose experts stand in groups. */
export interface GroupKeys {
  readonly n_group: number;
  readonly topk_group: number;
  readonly n_routed_experts: number;
  readonly num_experts_per_tok: number;
}

/** The groups of a config; null where no group is ever left out. Refuses what leaves fewer experts than are needed. */
export const expertGroups = (config: GroupKeys, by: GroupRule['by'], masked: GroupRule['masked']): GroupRule | null => {
  const { n_group: count, topk_group: keep, n_routed_experts: experts, num_experts_per_tok: perToken } = config;
  if (experts % count !== 0) refuseConfig('n_group', count, `does not divide the ${experts} experts`);
  if (keep > count) refuseConfig('topk_group', keep, `is more than the ${count} groups that there are`);
  if (by === 'sum-of-two' && experts / count < 2) refuseConfig('n_group', count, 'leaves one expert a group, not two');
  if (perToken > (keep * experts) / count)
    refuseConfig('num_experts_per_tok', perToken, `is more than the experts of ${keep} of ${count} groups`);
  return keep === count ? null : { count, keep, by, masked };
};

interface SharedChoice {
  readonly size: number;
  readonly activation: PartPlan;
  readonly bias?: boolean;
}

/** A gated feed-forward that every token goes to. */
export const plainShared = ({ bias = false, ...choice }: SharedChoice): PartPlan => ({
  kind: 'plain',
  options: { ...choice, bias },
});

/** The same, scaled by a gate of its own. */
export const gatedShared = (choice: SharedChoice): PartPlan => ({ ...plainShared(choice), kind: 'gated' });
