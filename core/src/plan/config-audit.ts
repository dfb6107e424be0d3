import type { ConfigAudit } from './audit.js';
import { commonInertReason } from './config-inert.js';
import { isContainer, join } from './config-recorder.js';
import type { RawConfig } from './config-source.js';

/** What is known of the keys of one object of a config.json, in its own paths. */
export interface AuditRules {
  readonly reads: ReadonlySet<string>;
  /** Reason by key; a key stands for all that is under it. */
  readonly inert: ReadonlyMap<string, string>;
}

interface Findings {
  readonly read: string[];
  readonly inert: ConfigAudit['inert'][number][];
  readonly refused: ConfigAudit['refused'][number][];
  /** Null and not read. */
  readonly absent: string[];
}

const NONE: Findings = { read: [], inert: [], refused: [], absent: [] };

/**
 * Each key is read, inert with a reason, or refused. Null is absent: such a key is inert unless it was read. An
 * object of which nothing is known is refused by its own name, not key by key.
 *
 * @param prefix path of `raw` in its file
 */
export const auditKeys = (raw: RawConfig, rules: AuditRules, prefix = ''): Omit<ConfigAudit, 'file'> => {
  const found = merge(
    Object.entries(raw).map(([key, value]) => auditNode(value, key, rules, commonInertReason(key, value))),
  );
  const named = (path: string): string => join(prefix, path);
  const inert = [...found.inert, ...found.absent.map((key) => ({ key, reason: 'null is the same as absent' }))];
  return {
    read: unique(found.read.map((key) => named(anyElement(key)))),
    inert: inert.map(({ key, reason }) => ({ key: named(key), reason })),
    refused: found.refused.map(({ key, value }) => ({ key: named(key), value })),
  };
};

const auditNode = (value: unknown, path: string, rules: AuditRules, common: string | undefined): Findings => {
  const declared = rules.inert.get(path) ?? common;
  if (!isContainer(value)) {
    if (rules.reads.has(path)) return { ...NONE, read: [path] };
    if (declared !== undefined) return { ...NONE, inert: [{ key: path, reason: declared }] };
    return value === null ? { ...NONE, absent: [path] } : { ...NONE, refused: [{ key: path, value }] };
  }
  const inside = merge(
    Object.entries(value).map(([key, child]) =>
      auditNode(child, Array.isArray(value) ? `${path}[${key}]` : join(path, key), rules, declared),
    ),
  );
  if (inside.read.length > 0) return inside;
  if (declared !== undefined) return { ...NONE, inert: [{ key: path, reason: declared }] };
  const nothingKnown = inside.refused.length > 0 && inside.inert.length === 0;
  return nothingKnown ? { ...NONE, refused: [{ key: path, value }] } : inside;
};

const merge = (findings: readonly Findings[]): Findings => ({
  read: findings.flatMap(({ read }) => read),
  inert: findings.flatMap(({ inert }) => inert),
  refused: findings.flatMap(({ refused }) => refused),
  absent: findings.flatMap(({ absent }) => absent),
});

/** `blocks[3].size` -> `blocks[].size`: the report says once what holds for each element. */
const anyElement = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]');

const unique = (values: readonly string[]): string[] => [...new Set(values)];
