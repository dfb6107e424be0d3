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
  /** A wrapper's config: the text model's keys stand under one key of it. A config without that key is read as it is. */
  readonly nested?: NestedConfig;
}

export interface NestedConfig {
  /** `text_config`. */
  readonly key: string;
  /** The wrapper's other keys, with the reason why the text model does not depend on them. */
  readonly inert: Readonly<Record<string, string>>;
  /**
   * Keys that the wrapper decides, whatever the text config says of them, each with the default of the published
   * wrapper class: `{ tie_word_embeddings: true }`. The family reads them like its own.
   */
  readonly owns?: Readonly<Record<string, unknown>>;
}

export const defineFamily = <C>(family: Omit<Family<C>, '$$type'>): Family<C> =>
  Object.freeze({ $$type: 'kvad.family' as const, ...family });
