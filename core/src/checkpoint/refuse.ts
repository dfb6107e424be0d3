import { KvadError } from '../errors/kvad-error.js';
import type { WeightAudit } from '../plan/audit.js';
import { collapseNames } from './collapse.js';

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
