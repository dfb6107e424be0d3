import type { RopeTablePlan } from '@kvad/schemas';
import { refuseConfig } from './config-refusal.js';
import { isGiven, sourceOf, valueAt } from './config-source.js';
import { flatSettings, type RopeSettings } from './rope-settings.js';
import { ROPE_TYPES, scaledTable, type RopeType } from './rope-types.js';

/** What a family says of its rotary tables; the rest is in the config. */
export interface RopeOptions {
  /** Columns of a head that the table is made for (of the rotary part, where only that is given to it). */
  readonly headDim: number;
  /** Where neither the file nor the schema has one; the published base class has 10000. */
  readonly defaultTheta?: number;
  /**
   * True, or the class's default: the family rotates `partial_rotary_factor` of a head's columns. Absent: it rotates
   * all of them, and a factor other than 1 is left unread, so that the audit refuses it.
   */
  readonly partial?: boolean | number;
  /** Types that the family's published class can compute; absent: all. */
  readonly types?: readonly RopeType[];
  /** Other names of types in files of this family: `{ su: 'longrope' }`. */
  readonly aliases?: Readonly<Record<string, RopeType>>;
  /** Keys outside of the rotary dictionaries that this family knows, instead of the usual names. */
  readonly keys?: { readonly theta?: readonly string[]; readonly partial?: readonly string[] };
  /** Keys inside of the dictionaries that change nothing in this family, with the reason. */
  readonly inert?: Readonly<Record<string, string>>;
  /** `dynamic` may have a fixed `alpha` instead of growing with the length. */
  readonly alpha?: boolean;
  /** `longrope` scales cos and sin by `short_mscale` and `long_mscale` of the config instead of a computed factor. */
  readonly mscales?: boolean;
  /** Positions that the model was trained for; absent: `max_position_embeddings`. */
  readonly contextLength?: number;
}

/** Left in files by training code; the published implementations read neither. */
const INERT = { finetuned: 'records how the model was trained' };
const DEFAULT_THETA = 10_000;

/**
 * The rotary table of a model that has one. The settings may stand in `rope_parameters`, in the older `rope_scaling`,
 * and, for theta, the partial factor and the original context, at the top of the file.
 * Source of the rules: `modeling_rope_utils.py` of transformers 5.24.
 */
export const ropeOf = (config: object, options: RopeOptions): RopeTablePlan => {
  const source = sourceOf(config);
  const settings = flatSettings(source);
  return tableOf(settings, options, ['original_max_position_embeddings']);
};

/** A family's own number among the rotary settings (`llama_4_scaling_beta`, `mscale_all_dim`), in whichever home. */
export const ropeParameter = (config: object, key: string): number | undefined =>
  flatSettings(sourceOf(config)).number(key);

/**
 * One table out of its settings.
 *
 * @param originalContext homes of the original context outside of the dictionaries; they win, as published
 */
export const tableOf = (
  settings: RopeSettings,
  options: RopeOptions,
  originalContext: readonly string[],
): RopeTablePlan => {
  const { source } = settings;
  const type = typeOf(settings, options);
  const theta = thetaOf(settings, options);
  const partial = partialOf(settings, options, type);
  const dims = Math.trunc(options.headDim * (type === 'proportional' ? 1 : partial));
  if (dims < 2 || dims % 2 !== 0) {
    refuseConfig(partialPath(settings, options), partial, `rotates ${dims} of ${options.headDim} columns`);
  }
  for (const [key, reason] of Object.entries({ ...INERT, ...options.inert })) settings.inert(key, reason);
  if (type === 'default') {
    for (const path of originalContext) source.inert(path, 'only rotary tables for long contexts use it');
    return { type, theta, dims };
  }
  return scaledTable(type, { settings, options, theta, dims, partial, originalContext });
};

/** Where the partial factor stands, or would stand. */
const partialPath = (settings: RopeSettings, { keys }: RopeOptions): string => {
  const outside = keys?.partial ?? ['partial_rotary_factor'];
  return settings.homes(['partial_rotary_factor'], outside)[0]?.path ?? outside[0] ?? 'partial_rotary_factor';
};

const typeOf = (settings: RopeSettings, { types = ROPE_TYPES, aliases = {} }: RopeOptions): RopeType => {
  const resolved = (name: unknown): unknown =>
    typeof name === 'string' && Object.hasOwn(aliases, name) ? aliases[name] : name;
  const stored = settings.value(['rope_type', 'type'], [], resolved) ?? 'default';
  const type = types.find((known) => known === resolved(stored));
  if (type !== undefined) return type;
  const known = [...types, ...Object.keys(aliases)].join(', ');
  return refuseConfig(
    settings.pathOf('rope_type', 'type'),
    stored,
    `is none of the rotary tables of this family: ${known}`,
  );
};

const thetaOf = (settings: RopeSettings, options: RopeOptions): number => {
  const keys = options.keys?.theta ?? ['rope_theta'];
  const stored = settings.value(['rope_theta'], keys);
  const byDefault = keys.map((key) => valueAt(settings.source.values, key)).find(isGiven);
  const theta = stored ?? byDefault ?? options.defaultTheta ?? DEFAULT_THETA;
  return typeof theta === 'number' && theta > 0 && Number.isFinite(theta)
    ? theta
    : refuseConfig(keys[0] ?? 'rope_theta', theta, 'is not a positive number');
};

const partialOf = (settings: RopeSettings, options: RopeOptions, type: RopeType): number => {
  const keys = options.keys?.partial ?? ['partial_rotary_factor'];
  const planned = options.partial ?? (type === 'proportional' ? true : false);
  if (planned === false) {
    const homes = settings.homes(['partial_rotary_factor'], keys);
    for (const { path } of homes.filter(({ value }) => value === 1)) settings.source.read(path);
    return 1;
  }
  const stored = settings.value(['partial_rotary_factor'], keys);
  const byDefault = keys.map((key) => valueAt(settings.source.values, key)).find(isGiven);
  const factor = stored ?? byDefault ?? (planned === true ? 1 : planned);
  return typeof factor === 'number' && factor > 0 && factor <= 1
    ? factor
    : refuseConfig(partialPath(settings, options), factor, 'is not a share between 0 and 1');
};
