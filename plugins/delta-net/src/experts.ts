/** The experts of the families here: chosen by a softmax, beside one that each token goes to as far as it wants. */
import {
  activated,
  activationOf,
  byNothing,
  bySum,
  moe,
  routerNames,
  separateExperts,
  sharedExpert,
  softmaxRouter,
  stackedExperts,
  type OpChoice,
  type SlotRule,
} from '@kvad/core/plugin';

export interface ExpertKeys {
  readonly num_experts: number;
  readonly num_experts_per_tok: number;
  readonly moe_intermediate_size: number;
  readonly shared_expert_intermediate_size: number;
  readonly hidden_act: string;
}

/** Keys that a model without layers with experts does not depend on. */
export const KEYS_OF_EXPERTS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'num_experts_per_tok',
    'moe_intermediate_size',
    'shared_expert_intermediate_size',
    'norm_topk_prob',
    'decoder_sparse_step',
    'mlp_only_layers',
  ].map((key) => [key, 'only layers with experts use it']),
);

/** `normalised`: the weights of the chosen experts are divided by their sum. */
export const sharedAndRouted = (c: ExpertKeys, { normalised }: { readonly normalised: boolean }): OpChoice => {
  const activation = activationOf(c.hidden_act);
  return moe({
    experts: c.num_experts,
    perToken: c.num_experts_per_tok,
    size: c.moe_intermediate_size,
    gating: activated(activation),
    router: softmaxRouter({ normalise: normalised ? bySum() : byNothing }),
    shared: { kind: 'gated', options: { activation, size: c.shared_expert_intermediate_size, bias: false } },
  });
};

/** Experts each for itself, or all in two tensors. */
export const sharedAndRoutedNames = (c: ExpertKeys): SlotRule[] => [
  ...routerNames('mlp.gate'),
  ...separateExperts('mlp.experts.', c.num_experts),
  ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
  ...sharedExpert('mlp.shared_expert.', 'mlp.shared_expert_gate'),
];
