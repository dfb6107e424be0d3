import type { ConfigAudit } from './audit.js';
import { auditKeys } from './config-audit.js';
import { objectAt } from './config-recorder.js';
import { refuseConfig } from './config-refusal.js';
import { isGiven, isObject, type RawConfig } from './config-source.js';
import type { FamilyConfig } from './family.js';

/** The config that a family reads, and where in the file it stands. */
export interface TextConfig {
  readonly raw: RawConfig;
  /** The object of the file that `raw` was made of: without the keys that the wrapper decides. */
  readonly inner: RawConfig;
  /** Path of `raw` in the file: `text_config`, or empty. */
  readonly prefix: string;
  /** Keys of the text config that its wrapper decides, with the reason. */
  readonly overruled: Readonly<Record<string, string>>;
  /** The keys of the wrapper around it, given what the family read of the keys that the wrapper decides. */
  auditOuter(reads: ReadonlySet<string>): Omit<ConfigAudit, 'file'>;
}

const NOTHING = { read: [], inert: [], refused: [] };

/**
 * Finds the family's config in a file: the whole file, or what a wrapper holds. A wrapper around a type of a family
 * that declares none is refused: its own keys would be read as those of a model.
 */
export const textConfigOf = (raw: RawConfig, { nested }: FamilyConfig, modelType: string): TextConfig => {
  const text = raw['text_config'];
  if (nested === undefined && raw['model_type'] !== modelType && isObject(text) && text['model_type'] === modelType) {
    return refuseConfig(
      'model_type',
      raw['model_type'],
      `wraps the ${modelType} of "text_config" in more than a text model`,
    );
  }
  if (nested === undefined || !isGiven(raw[nested.key])) {
    return { raw, inner: raw, prefix: '', overruled: {}, auditOuter: () => NOTHING };
  }
  const inner = objectAt(raw, nested.key);
  const owned = Object.entries(nested.owns ?? {});
  const given = Object.fromEntries(owned.map(([key, byDefault]) => [key, raw[key] ?? byDefault]));
  const outer = Object.fromEntries(Object.entries(raw).filter(([key]) => key !== nested.key));
  return {
    raw: { ...inner, ...given },
    inner,
    prefix: nested.key,
    overruled: Object.fromEntries(owned.map(([key]) => [key, `"${key}" of the wrapper decides`])),
    auditOuter: (reads) =>
      auditKeys(outer, {
        reads: new Set(['model_type', ...Object.keys(given).filter((key) => reads.has(key))]),
        inert: new Map(Object.entries(nested.inert)),
      }),
  };
};
