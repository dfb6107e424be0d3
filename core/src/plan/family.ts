import type { ModelPlan } from '@kvad/schemas';
import type { WeightRule } from './weight-rules.js';

/** What a family's `plan` returns: `version`, `family` and `modelType` are added by the engine. */
export type PlanDraft = Omit<ModelPlan, 'version' | 'family' | 'modelType'>;

/**
 * One model family as data. `plan` and `weights` are pure functions of the config; the config that they get has
 * been checked by the schema, completed by its `default`s (those of the published config class), and records which
 * of its keys are read: every key of config.json must be read, declared inert, or is refused.
 */
export interface Family<C = unknown> {
  readonly $$type: 'kvad.family';
  readonly modelTypes: readonly string[];
  readonly about: string;
  /** Paper and modelling file. */
  readonly reference: string;
  readonly config: FamilyConfig;
  plan(config: C): PlanDraft;
  weights(config: C): readonly WeightRule[];
}

export interface FamilyConfig {
  /** File name of the JSON Schema, in the folder `kvad.schemas` of the plugin's package.json (else beside `entry`). */
  readonly schema: string;
  /** Keys that do not change a forward pass, with the reason. */
  readonly inert?: Readonly<Record<string, string>>;
  /** A wrapper's config: the text model's keys stand under this key; other outer keys need a reason. */
  readonly nested?: { readonly key: string; readonly inert: Readonly<Record<string, string>> };
}

export const defineFamily = <C>(family: Omit<Family<C>, '$$type'>): Family<C> =>
  Object.freeze({ $$type: 'kvad.family' as const, ...family });
