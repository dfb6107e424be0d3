import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelPlan } from '@kvad/schemas';
import { ConfigSchema } from '../plan/config-schema.js';
import type { Family } from '../plan/family.js';
import type { Plugin } from '../plan/plugin.js';
import { fixtureDirectory } from './fixture-directory.js';
import { familyIn, openPlugin, pathOf, type FamilyUnderTest, type PluginUnderTest } from './plugin-under-test.js';
import { readReference, type Reference } from './reference.js';
import { configIn, planConfig, TestModel, type TestModelOptions } from './test-model.js';
import { prefillWhole } from './verify.js';

/** A family, by itself or by its model type, on a checkpoint with a reference. */
export interface FamilyCaseRequest {
  readonly subject: Family | string;
  readonly fixture: string | URL;
  readonly plugins: readonly PluginUnderTest[];
}

/** What the claims of the kit are checked on. */
export interface FamilyCase {
  readonly model: TestModel;
  readonly reference: Reference;
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
  const directory = fixtureDirectory(pathOf(fixture));
  const opened = await Promise.all(given.map(openPlugin));
  const config = configIn(directory);
  const under = familyIn(opened, typeof subject === 'string' ? subject : modelTypeOf(subject, config));
  return { under, plugins: opened.map(({ plugin }) => plugin), directory, config };
};

export const openCase = async (request: FamilyCaseRequest): Promise<FamilyCase> => {
  const { under, plugins, directory, config } = await openSubject(request);
  const reopen: FamilyCase['reopen'] = (options) => TestModel.open({ under, plugins, directory, ...options });

  const model = reopen();
  const schema = ConfigSchema.read(under.schemas, under.family.config.schema);
  const reference = readReference(directory);
  const whole = await prefillWhole(model, reference.inputIds);
  const ids = [...reference.inputIds].slice(0, steadyLength(model.facts.plan));
  const logits = ids.length === reference.inputIds.length ? whole : await prefillWhole(model, Int32Array.from(ids));
  return {
    model,
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

/**
 * Tokens up to which the angles of a position do not depend on how long the sequence has become. Beyond it a sequence
 * that grew step by step holds keys turned by older angles than one computed whole, in the published models too.
 */
const steadyLength = ({ ropeTables }: ModelPlan): number =>
  Math.min(
    ...Object.values(ropeTables).map((table) =>
      table.type === 'dynamic' || table.type === 'longrope' ? table.originalContext : Infinity,
    ),
  );
