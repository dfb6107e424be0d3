import type { RopeTablePlan } from '@kvad/schemas';
import { refuseConfig } from './config-refusal.js';
import { valueAt } from './config-source.js';
import type { RopeOptions } from './rope-config.js';
import type { RopeSettings } from './rope-settings.js';

export type RopeType = RopeTablePlan['type'];
export const ROPE_TYPES: readonly RopeType[] = [
  'default',
  'linear',
  'dynamic',
  'yarn',
  'llama3',
  'longrope',
  'proportional',
];

/** What the settings of every type start from. */
export interface TableParts {
  readonly settings: RopeSettings;
  readonly options: RopeOptions;
  readonly theta: number;
  /** Rotated columns. */
  readonly dims: number;
  readonly partial: number;
  readonly originalContext: readonly string[];
}

type Table<T extends RopeType> = Extract<RopeTablePlan, { type: T }>;

/** A table that is not the default one. Keys of other types stay unread, so that the audit refuses them. */
export const scaledTable = (type: Exclude<RopeType, 'default'>, parts: TableParts): RopeTablePlan => {
  switch (type) {
    case 'linear':
      return linear(parts);
    case 'dynamic':
      return dynamic(parts);
    case 'yarn':
      return yarn(parts);
    case 'llama3':
      return llama3(parts);
    case 'longrope':
      return longrope(parts);
    case 'proportional':
      return proportional(parts);
  }
};

const linear = ({ settings, theta, dims }: TableParts): Table<'linear'> => ({
  type: 'linear',
  theta,
  dims,
  factor: settings.required('factor', 'linear'),
});

/** Published files with a fixed alpha have these as well. */
const KEYS_OF_YARN = ['beta_fast', 'beta_slow', 'mscale', 'mscale_all_dim'];

/** Grows with the length beyond what `max_position_embeddings` says, whatever an original context says. */
const dynamic = (parts: TableParts): Table<'dynamic'> => {
  const { settings, options, theta, dims } = parts;
  const alpha = options.alpha === true ? (settings.positive('alpha') ?? null) : null;
  if (alpha !== null) for (const key of KEYS_OF_YARN) settings.inert(key, 'a table with a fixed alpha has no ramp');
  return {
    type: 'dynamic',
    theta,
    dims,
    factor: settings.required('factor', 'dynamic'),
    originalContext: contextLength(parts),
    alpha,
  };
};

/**
 * attentionFactor = attention_factor, or m(mscale) / m(mscale_all_dim) if both are given and not 0, or m(1), with
 * m(s) = 0.1 s ln(factor) + 1 for factors above 1. Without a factor it is the ratio of the two contexts.
 */
const yarn = (parts: TableParts): Table<'yarn'> => {
  const { settings, theta, dims } = parts;
  const originalContext = originalContextOf(parts);
  const factor = settings.positive('factor') ?? contextLength(parts) / originalContext;
  const [given, mscale, mscaleAllDim] = ['attention_factor', 'mscale', 'mscale_all_dim'].map((key) =>
    settings.number(key),
  );
  const m = (scale: number): number => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1);
  return {
    type: 'yarn',
    theta,
    dims,
    factor,
    originalContext,
    betaFast: settings.number('beta_fast') || 32,
    betaSlow: settings.number('beta_slow') || 1,
    attentionFactor: given ?? (mscale && mscaleAllDim ? m(mscale) / m(mscaleAllDim) : m(1)),
    truncate: settings.boolean('truncate') ?? true,
  };
};

const llama3 = (parts: TableParts): Table<'llama3'> => ({
  type: 'llama3',
  theta: parts.theta,
  dims: parts.dims,
  factor: parts.settings.required('factor', 'llama3'),
  originalContext: originalContextOf(parts),
  lowFreqFactor: parts.settings.required('low_freq_factor', 'llama3'),
  highFreqFactor: parts.settings.required('high_freq_factor', 'llama3'),
});

/** Scales: attention_factor, or sqrt(1 + ln(factor) / ln(original context)) for factors above 1. */
const longrope = (parts: TableParts): Table<'longrope'> => {
  const { settings, options, theta, dims } = parts;
  const originalContext = originalContextOf(parts);
  const factor = settings.positive('factor') ?? contextLength(parts) / originalContext;
  const computed = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalContext));
  const scale = settings.number('attention_factor') ?? computed;
  return {
    type: 'longrope',
    theta,
    dims,
    originalContext,
    shortFactor: [...settings.factors('short_factor', dims / 2)],
    longFactor: [...settings.factors('long_factor', dims / 2)],
    shortScale: options.mscales === true ? settings.required('short_mscale', 'longrope') : scale,
    longScale: options.mscales === true ? settings.required('long_mscale', 'longrope') : scale,
  };
};

const proportional = ({ settings, theta, dims, partial }: TableParts): Table<'proportional'> => {
  const rotated = 2 * Math.floor((partial * dims) / 2);
  if (rotated < 2) refuseConfig(settings.pathOf('partial_rotary_factor'), partial, `rotates none of ${dims} columns`);
  return { type: 'proportional', theta, dims, rotated, factor: settings.positive('factor') ?? 1 };
};

/** The context before it was stretched; without one it is what `max_position_embeddings` says. */
const originalContextOf = (parts: TableParts): number => {
  const { settings, originalContext } = parts;
  const stored = settings.value(['original_max_position_embeddings'], originalContext);
  if (stored === undefined) return contextLength(parts);
  return isLength(stored)
    ? stored
    : refuseConfig(settings.pathOf('original_max_position_embeddings'), stored, 'is not a number of positions');
};

const contextLength = ({ settings: { source }, options }: TableParts): number => {
  const length = options.contextLength ?? valueAt(source.values, 'max_position_embeddings');
  source.read('max_position_embeddings');
  return isLength(length)
    ? length
    : refuseConfig('max_position_embeddings', length ?? null, 'is not a number of positions');
};

const isLength = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;
