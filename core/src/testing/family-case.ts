import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigSchema } from '../plan/config-schema.js';
import type { Family } from '../plan/family.js';
import { BUILTIN_PARTS } from '../axes/builtin/index.js';
import type { Plugin } from '../plan/plugin.js';
import { planSlots } from '../plan/slots.js';
import { PartRegistry } from '../runtime/part-registry.js';
import { steadyLength } from './consistency.js';
import { fixtureDirectory, hasWeightsOrRecipe, withWeights } from './fixture-directory.js';
import { planWeights } from './plan-weights.js';
import { familyIn, openPlugin, pathOf, type FamilyUnderTest, type PluginUnderTest } from './plugin-under-test.js';
import { promptIds } from './prompt-ids.js';
import { hasReference, readReference, type Reference } from './reference.js';
import { configIn, planConfig, TestModel, type TestModelOptions } from './test-model.js';
import { prefillWhole } from './verify.js';

/** A family, by itself or by its model type, on a checkpoint with a reference. */
export interface FamilyCaseRequest {
  readonly subject: Family | string;
  readonly fixture: string | URL;
  readonly plugins: readonly PluginUnderTest[];
}

/** Ids that the claims are checked with. */
export type Prompts = Pick<Reference, 'inputIds' | 'shortIds'>;

/** As long as those of most references. */
const LONG = 45;
const SHORT = 6;

const madePrompts = (vocabSize: number): Prompts => ({
  inputIds: promptIds(vocabSize, LONG),
  shortIds: promptIds(vocabSize, LONG + SHORT).subarray(LONG),
});

/** What the claims of the kit are checked on. */
export interface FamilyCase {
  readonly model: TestModel;
  readonly prompts: Prompts;
  /** null: the fixture has none. */
  readonly reference: Reference | null;
  /** Logits of the long prompt, whole. */
  readonly whole: Float32Array;
  /** As many ids of the long prompt as a sequence may grow through without its angles changing, and their logits. */
  readonly steady: { readonly ids: number[]; readonly logits: Float32Array };
  /** Another instance: the same, or with other ops and another precision. */
  readonly reopen: (options?: Pick<TestModelOptions, 'ops' | 'quant'>) => TestModel;
  /** Plan and weight rules of another config. */
  readonly derive: (config: Readonly<Record<string, unknown>>) => unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly configSchema: unknown;
}

export interface FamilySubject {
  readonly under: FamilyUnderTest;
  readonly plugins: readonly Plugin[];
  /** Of the checkpoint, with its weights made. */
  readonly directory: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export const openSubject = async ({ subject, fixture, plugins: given }: FamilyCaseRequest): Promise<FamilySubject> => {
  const source = fixtureDirectory(pathOf(fixture));
  const opened = await Promise.all(given.map(openPlugin));
  const config = configIn(source);
  const under = familyIn(opened, typeof subject === 'string' ? subject : modelTypeOf(subject, config));
  const plugins = opened.map(({ plugin }) => plugin);
  const directory = hasWeightsOrRecipe(source) ? source : withPlannedWeights(source, under, plugins);
  return { under, plugins, directory, config };
};

/** A config alone becomes a checkpoint: random weights of its plan. */
const withPlannedWeights = (source: string, under: FamilyUnderTest, plugins: readonly Plugin[]): string => {
  const { plan, rules } = planConfig(under, configIn(source), source);
  const slots = planSlots(plan, PartRegistry.of([BUILTIN_PARTS, ...plugins]));
  return withWeights(source, { seed: 1, tensors: planWeights({ slots, rules, tied: plan.head.tied }) });
};

export const openCase = async (request: FamilyCaseRequest): Promise<FamilyCase> => {
  const { under, plugins, directory, config } = await openSubject(request);
  const reopen: FamilyCase['reopen'] = (options) => TestModel.open({ under, plugins, directory, ...options });

  const model = reopen();
  const schema = ConfigSchema.read(under.schemas, under.family.config.schema);
  const reference = hasReference(directory) ? readReference(directory) : null;
  const prompts = reference ?? madePrompts(model.facts.plan.vocabSize);
  const whole = await prefillWhole(model, prompts.inputIds);
  const ids = [...prompts.inputIds].slice(0, steadyLength(model.facts.plan));
  const logits = ids.length === prompts.inputIds.length ? whole : await prefillWhole(model, Int32Array.from(ids));
  return {
    model,
    prompts,
    reference,
    whole,
    steady: { ids, logits },
    reopen,
    derive: (changed) => {
      const { plan, rules } = planConfig(under, changed, directory, schema);
      return { plan, rules };
    },
    config,
    configSchema: JSON.parse(readFileSync(path.join(under.schemas, under.family.config.schema), 'utf8')),
  };
};

/** The outer type, else that of the text model within. */
const modelTypeOf = ({ modelTypes }: Family, config: Readonly<Record<string, unknown>>): string => {
  const outer = config['model_type'] as string;
  return modelTypes.includes(outer) ? outer : (config['text_config'] as { model_type: string }).model_type;
};
