import { KvadError } from '../errors/kvad-error.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import { isSlotRule, type SlotRule, type WeightRule, type WeightSource } from '../plan/weight-rules.js';

/** `names[i][e]`: the i-th tensor name of a source, of its e-th expert (one where the source has no experts). */
export interface NamedSource {
  readonly source: WeightSource;
  readonly names: readonly (readonly string[])[];
}

/** The rules of a weight map by the slot that they fill. */
export const rulesBySlot = (rules: readonly WeightRule[]): ReadonlyMap<string, readonly SlotRule[]> => {
  const bySlot = new Map<string, SlotRule[]>();
  for (const rule of rules.filter(isSlotRule)) bySlot.set(rule.slot, [...(bySlot.get(rule.slot) ?? []), rule]);
  return bySlot;
};

/**
 * The sources of a slot with their tensor names, in the order in which they are tried. A rule for the slot of one
 * layer goes before the rule for the slots of all. Throws KVAD_E_WEIGHTS_RULE.
 */
export const sourcesOf = (
  slot: PlannedSlot,
  bySlot: ReadonlyMap<string, readonly SlotRule[]>,
): readonly NamedSource[] => {
  const rules = bySlot.get(slot.name) ?? bySlot.get(slot.pattern) ?? [];
  const sources = rules.flatMap((rule) => rule.sources);
  if (sources.length === 0) {
    throw new KvadError('KVAD_E_WEIGHTS_RULE', { slot: slot.pattern, reason: 'no rule fills this slot' });
  }
  return sources.map((source) => ({ source, names: namesOf(source, slot) }));
};

const namesOf = (source: WeightSource, slot: PlannedSlot): readonly (readonly string[])[] => {
  const refuse = (reason: string): never => {
    throw new KvadError('KVAD_E_WEIGHTS_RULE', { slot: slot.pattern, reason });
  };
  const templates = typeof source.tensors === 'string' ? [source.tensors] : source.tensors;
  const stack = source.transform.find((transform) => transform.op === 'stack');
  if (templates.length === 0) return refuse('a source names no tensor');
  if (templates.length > 1 && !source.transform.some((transform) => transform.op === 'concat')) {
    return refuse('a source names several tensors and does not say concat');
  }
  return templates.map((template) => {
    if (template.includes('{layer}') && slot.layer === null) return refuse(`"${template}" has no layer here`);
    if (template.includes('{expert}') !== (stack !== undefined)) {
      return refuse(`"${template}" has {expert} without stack, or stack without {expert}`);
    }
    const name = template.replaceAll('{layer}', String(slot.layer));
    if (stack === undefined) return [name];
    return Array.from({ length: stack.count }, (_, expert) => name.replaceAll('{expert}', String(expert)));
  });
};

/** A name template as a pattern over tensor names: `{layer}` and `{expert}` are numbers, `*` is any run. */
export const templatePattern = (template: string): RegExp => {
  const escaped = template.replace(/[\\^$.*+?()[\]|]/g, '\\$&');
  const pattern = escaped.replaceAll('\\*', '.*').replaceAll('{layer}', '(\\d+)').replaceAll('{expert}', '\\d+');
  return new RegExp(`^${pattern.replace(/[{}]/g, '\\$&')}$`);
};
