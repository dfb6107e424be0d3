import type { WeightAudit } from '../plan/audit.js';
import { isSlotRule, type UnneededRule, type WeightRule } from '../plan/weight-rules.js';
import { type Binding, type BindRequest, sourceKey } from './binding.js';
import type { Checkpoint } from './checkpoint.js';
import { diagnoseWeights } from './diagnose-weights.js';
import { templatePattern } from './match.js';
import { elementCount } from './shape.js';

type Mutable<T> = T extends readonly (infer E)[] ? E[] : never;

/** What the binder found while it bound. */
export interface Findings {
  readonly missing: Mutable<WeightAudit['missing']>;
  readonly misshaped: Mutable<WeightAudit['misshaped']>;
  readonly unreadable: Mutable<WeightAudit['unreadable']>;
  /** Tensors that a slot took or would have taken. */
  readonly claimed: Set<string>;
}

/** What became of each tensor and each slot. */
export const auditWeights = (
  request: BindRequest & { readonly findings: Findings; readonly bindings: readonly Binding[] },
): WeightAudit => {
  const { checkpoint, rules, findings, bindings } = request;
  const { missing, misshaped, unreadable, claimed } = findings;
  const left = [...checkpoint.tensors.keys()].filter((name) => !claimed.has(name));
  const { unneeded, unexpected, isUnneeded } = sortUnclaimed(left, rules);
  const partlyRead = findPartlyRead(bindings, checkpoint).filter(({ tensor }) => !isUnneeded(tensor));
  const lists = { missing, unexpected, misshaped, partlyRead, unreadable: distinct(unreadable), unneeded };
  return { ...lists, diagnosis: diagnoseWeights(request, lists) };
};

const distinct = (unreadable: WeightAudit['unreadable']): WeightAudit['unreadable'] => [
  ...new Map(unreadable.map((finding) => [finding.tensor, finding])).values(),
];

const sortUnclaimed = (
  names: readonly string[],
  rules: readonly WeightRule[],
): Pick<WeightAudit, 'unneeded' | 'unexpected'> & { isUnneeded(name: string): boolean } => {
  const patterns = rules
    .filter((rule): rule is UnneededRule => !isSlotRule(rule))
    .map((rule) => ({ rule, pattern: templatePattern(rule.unneeded), count: 0 }));
  const unexpected = names.filter((name) => {
    const match = patterns.find(({ pattern }) => pattern.test(name));
    if (match !== undefined) match.count++;
    return match === undefined;
  });
  const unneeded = patterns
    .filter(({ count }) => count > 0)
    .map(({ rule, count }) => ({ pattern: rule.unneeded, reason: rule.reason, count }));
  return { unneeded, unexpected, isUnneeded: (name) => patterns.some(({ pattern }) => pattern.test(name)) };
};

/**
 * Tensors of which no slots together take all elements: a fused tensor that the plan cuts up wrongly gives shapes
 * that fit and values that are not meant.
 */
const findPartlyRead = (bindings: readonly Binding[], checkpoint: Checkpoint): WeightAudit['partlyRead'] => {
  interface Group {
    readonly names: readonly string[];
    readonly slots: string[];
    readonly taken: Map<string, number>;
  }
  const groups = new Map<string, Group>();
  for (const binding of bindings) {
    const key = binding.names.join('\0');
    const group: Group = groups.get(key) ?? { names: binding.names, slots: [], taken: new Map() };
    group.slots.push(binding.slot.name);
    group.taken.set(sourceKey(binding), elementCount(binding.tensor.shape));
    groups.set(key, group);
  }
  const whole = new Set<string>();
  const partly = new Map<string, WeightAudit['partlyRead'][number]>();
  for (const { names, slots, taken } of groups.values()) {
    const elements = names.reduce((sum, name) => sum + elementCount(checkpoint.tensors.get(name)?.shape ?? []), 0);
    const read = [...taken.values()].reduce((sum, count) => sum + count, 0);
    if (read >= elements) for (const name of names) whole.add(name);
    else partly.set(names[0] ?? '', { tensor: names.join(' + '), slots, elements, read });
  }
  return [...partly].filter(([name]) => !whole.has(name)).map(([, finding]) => finding);
};
