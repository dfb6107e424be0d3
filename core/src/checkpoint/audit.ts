import { KvadError } from '../errors/kvad-error.js';
import type { WeightAudit } from '../plan/audit.js';
import { isSlotRule, type UnneededRule, type WeightRule } from '../plan/weight-rules.js';
import { type Binding, type BindRequest, sourceKey } from './binding.js';
import type { Checkpoint } from './checkpoint.js';
import { collapseNames } from './collapse.js';
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

/** Throws KVAD_E_WEIGHTS_* for an audit that found anything wrong; returns if nothing is. */
export const refuseBadWeights = (audit: WeightAudit, where: { readonly directory: string }): void => {
  const { missing, unexpected, misshaped, partlyRead, unreadable, diagnosis } = audit;
  const findings = [
    finding('unreadable', unreadable.length, collapseUnreadable(unreadable)),
    finding('missing', missing.length, collapseNames(missing.flatMap(({ tensors }) => tensors))),
    finding('misshaped', misshaped.length, collapseMisshaped(misshaped)),
    finding('partly read', partlyRead.length, collapseNames(partlyRead.map(({ tensor }) => tensor))),
    finding('unexpected', unexpected.length, collapseNames(unexpected)),
  ].filter((text) => text !== null);
  const report = { directory: where.directory, diagnosis, findings };
  if (unreadable.length > 0) throw new KvadError('KVAD_E_WEIGHTS_UNREADABLE', report);
  if (missing.length > 0) throw new KvadError('KVAD_E_WEIGHTS_MISSING', report);
  if (misshaped.length + partlyRead.length > 0) throw new KvadError('KVAD_E_WEIGHTS_SHAPE', report);
  if (unexpected.length > 0) throw new KvadError('KVAD_E_WEIGHTS_UNEXPECTED', report);
};

const MOST_NAMED = 6;

const finding = (what: string, count: number, names: readonly string[]): string | null => {
  if (count === 0) return null;
  const more = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more kinds` : '';
  return `${count} ${what}: ${names.slice(0, MOST_NAMED).join(', ')}${more}`;
};

/** Groups by what else a finding says, and collapses the names of each group. */
const collapseBy = <T>(items: readonly T[], name: (item: T) => string, rest: (item: T) => string): string[] => {
  const groups = new Map<string, string[]>();
  for (const item of items) groups.set(rest(item), [...(groups.get(rest(item)) ?? []), name(item)]);
  return [...groups].flatMap(([text, names]) => collapseNames(names).map((collapsed) => `${collapsed} ${text}`));
};

const collapseUnreadable = (unreadable: WeightAudit['unreadable']): string[] =>
  collapseBy(
    unreadable,
    ({ tensor }) => tensor,
    ({ dtype, file }) => `(${dtype}, ${file})`,
  );

const collapseMisshaped = (misshaped: WeightAudit['misshaped']): string[] =>
  collapseBy(
    misshaped,
    ({ tensor }) => tensor,
    ({ expected, found, reason }) =>
      `is [${found.join(', ')}], not [${expected.join(', ')}]${reason === undefined ? '' : ` (${reason})`}`,
  );
