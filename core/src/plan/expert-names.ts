/**
 * Names of the tensors of experts, as weight rules for the slots of a feed-forward of kind `moe`. Published files hold
 * experts either one tensor each or all in one; a family gives the rules of each layout that its files may have, and
 * the first whose tensors are present is taken.
 */
import { inLayer, type Stored } from './weight-names.js';
import { from, type SlotRule, type Transform } from './weight-rules.js';

const LAYERS = '{prefix}layers.{layer}.';
const slot = (name: string): string => `layers.{layer}.ffn.${name}`;

export interface GluNames {
  readonly gate: string;
  readonly up: string;
  readonly down: string;
}

/** `gate_proj`, `up_proj`, `down_proj`. */
export const PROJ: GluNames = { gate: 'gate_proj', up: 'up_proj', down: 'down_proj' };
/** `w1`, `w3`, `w2`. */
export const W123: GluNames = { gate: 'w1', up: 'w3', down: 'w2' };

/** A tensor for each matrix of each expert: `{module}{expert}.gate_proj.weight` `[size, hidden]`. */
export const separateExperts = (module: string, count: number, names: GluNames = PROJ): SlotRule[] =>
  (['gate', 'up', 'down'] as const).map((matrix) =>
    from(slot(`experts.${matrix}.weight`), `${LAYERS}${module}{expert}.${names[matrix]}.weight`, {
      op: 'stack',
      count,
    }),
  );

const half = (part: 'gate' | 'up', axis: number, layout: 'halves' | 'interleaved'): Transform => ({
  op: 'split',
  axis,
  part,
  layout,
});

/**
 * All experts in two tensors: gate and up `[experts, 2 size, hidden]`, gate in the first half, and down
 * `[experts, hidden, size]`. Names are full: `mlp.experts.gate_up_proj`.
 */
export const stackedExperts = (gateUp: string, down: string): SlotRule[] => [
  from(slot('experts.gate.weight'), `${LAYERS}${gateUp}`, half('gate', 1, 'halves')),
  from(slot('experts.up.weight'), `${LAYERS}${gateUp}`, half('up', 1, 'halves')),
  from(slot('experts.down.weight'), `${LAYERS}${down}`),
];

/**
 * All experts in two tensors stored `[in, out]`: gate and up `[experts, hidden, 2 size]` in alternate columns, gate
 * first, and down `[experts, size, hidden]`; their biases `[experts, 2 size]` and `[experts, hidden]` alike.
 */
export const interleavedExperts = (gateUp: string, down: string): SlotRule[] => [
  ...(['gate', 'up'] as const).flatMap((part) => [
    from(slot(`experts.${part}.weight`), `${LAYERS}${gateUp}`, half(part, 2, 'interleaved'), { op: 'transposeLast' }),
    from(slot(`experts.${part}.bias`), `${LAYERS}${gateUp}_bias`, half(part, 1, 'interleaved')),
  ]),
  from(slot('experts.down.weight'), `${LAYERS}${down}`, { op: 'transposeLast' }),
  from(slot('experts.down.bias'), `${LAYERS}${down}_bias`),
];

/** Weight and bias of a router. */
export const routerNames = (module: string): SlotRule[] => inLayer('ffn.router.logits', module);

/** The bias that a router adds for the choice only. */
export const selectionBias = (tensor: string, ...transform: readonly Transform[]): SlotRule =>
  from(slot('router.selectionBias'), `${LAYERS}${tensor}`, ...transform);

/** The matrices of a shared expert, each a tensor; its gate, where there is one. */
export const sharedExpert = (module: string, gate?: string): SlotRule[] => [
  ...inLayer('ffn.shared.gate', `${module}gate_proj`),
  ...inLayer('ffn.shared.up', `${module}up_proj`),
  ...inLayer('ffn.shared.down', `${module}down_proj`),
  ...(gate === undefined ? [] : inLayer('ffn.shared.outGate', gate)),
];

/** The same with gate and up in the two halves of the rows of one tensor. */
export const fusedSharedExpert = (gateUp: string, down: string, stored: Stored = {}): SlotRule[] => [
  ...inLayer('ffn.shared.gate', gateUp, stored, half('gate', 0, 'halves')),
  ...inLayer('ffn.shared.up', gateUp, stored, half('up', 0, 'halves')),
  ...inLayer('ffn.shared.down', down, stored),
];
