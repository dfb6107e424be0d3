import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelPlan } from '@kvad/schemas';
import { ConfigSchema } from '../plan/config-schema.js';
import type { Family } from '../plan/family.js';
import { compareLogits, concatenate, describeComparison, standardDeviation } from './compare.js';
import { fixtureDirectory } from './fixture-directory.js';
import { idleKeys, listedValues } from './idle-keys.js';
import { familyIn, openPlugin, pathOf, type PluginUnderTest } from './plugin-under-test.js';
import { readReference, type Reference } from './reference.js';
import { configIn, planConfig, TestModel } from './test-model.js';
import { continueGreedily, prefillWhole } from './verify.js';

/** `describe` and `it` of vitest, of jest, or of `node:test`: failures are plain assertion errors. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

export interface TestFamilyOptions extends TestRunner {
  /** A checkpoint folder: config.json, weights or `weights.recipe.json`, reference.json, reference.safetensors. */
  readonly fixture: string | URL;
  /** The plugin that brings the family, and those whose parts it names. */
  readonly plugins: readonly PluginUnderTest[];
  /** Config keys of this fixture that are read and rightly change nothing, with the reason. */
  readonly idle?: Readonly<Record<string, string>>;
}

/** How far two ways to the same logits may differ, in standard deviations of the logits. */
const SAME = 1e-5;

/**
 * Registers the conformance tests of a family on one fixture: that it loads with everything accounted for, computes what
 * its publisher computes, and computes the same whichever way a sequence is cut, rewound, batched or repeated. All on
 * the reference arithmetic with an f32 cache.
 */
export const testFamily = (subject: Family | string, options: TestFamilyOptions): void => {
  const { describe, it, idle = {} } = options;
  const named = typeof subject === 'string' ? subject : subject.modelTypes.join(', ');
  const open = once(() => openCase(subject, options));
  const claim = (name: string, check: (opened: Case) => Promise<void> | void): unknown =>
    it(name, async () => check(await open()));

  describe(`${named} on ${path.basename(pathOf(options.fixture))}`, () => {
    claim('loads with every config key and every tensor accounted for', ({ model }) => {
      const { missing, unexpected, misshaped, unreadable } = model.weightAudit;
      assert.deepEqual({ missing, unexpected, misshaped, unreadable }, NOTHING_WRONG);
      assert.deepEqual(model.configAudit.refused, []);
    });
    claim('gives the logits of the reference at every position', checkReference);
    claim('continues greedily as the reference does', checkGreedy);
    claim('gives the same in chunks of 1, 3 and 64 rows as in one', checkChunks);
    claim('gives the same step by step', checkSteps);
    claim('continues after a truncation as if it had never gone further', checkTruncation);
    claim('continues after a snapshot was restored as if nothing had come after it', checkSnapshot);
    claim('computes each of two sequences in one batch as alone', checkBatch);
    claim('computes the same bits again, and so does another instance', checkDeterminism);
    claim('reads no config key that changes nothing', (opened) => {
      checkIdleKeys(opened, idle);
    });
  });
};

interface Case {
  readonly model: TestModel;
  readonly reference: Reference;
  /** Logits of the long prompt, whole. */
  readonly whole: Float32Array;
  /** As many ids of the long prompt as a sequence may grow through without its angles changing, and their logits. */
  readonly steady: { readonly ids: number[]; readonly logits: Float32Array };
  readonly reopen: () => TestModel;
  /** Plan and weight rules of another config. */
  readonly derive: (config: Readonly<Record<string, unknown>>) => unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly configSchema: unknown;
}

const NOTHING_WRONG = { missing: [], unexpected: [], misshaped: [], unreadable: [] };

const openCase = async (subject: Family | string, { fixture, plugins: given }: TestFamilyOptions): Promise<Case> => {
  const directory = fixtureDirectory(pathOf(fixture));
  const opened = await Promise.all(given.map(openPlugin));
  const config = configIn(directory);
  const under = familyIn(opened, typeof subject === 'string' ? subject : modelTypeOf(subject, config));
  const plugins = opened.map(({ plugin }) => plugin);
  const reopen = (): TestModel => TestModel.open({ under, plugins, directory });

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

const checkReference = async ({ model, reference, whole }: Case): Promise<void> => {
  const { tolerance } = reference.facts;
  const short = await prefillWhole(model, reference.shortIds);
  requireClose('long prompt', whole, reference.logits, model, tolerance);
  requireClose('short prompt', short, reference.shortLogits, model, tolerance);
};

const checkGreedy = async ({ model, reference: { shortIds, greedyIds } }: Case): Promise<void> => {
  assert.deepEqual(await continueGreedily(model, shortIds, greedyIds.length), [...greedyIds]);
};

const checkChunks = async ({ model, reference, whole }: Case): Promise<void> => {
  for (const chunk of [1, 3, 64]) {
    const session = await model.session();
    const logits = await session.prefill([...reference.inputIds], { chunk });
    requireSame(`in chunks of ${chunk}`, logits, whole, model);
    await session.close();
  }
};

const checkSteps = async ({ model, steady: { ids, logits } }: Case): Promise<void> => {
  const session = await model.session();
  const rows: Float32Array[] = [];
  for (const id of ids) rows.push(await session.prefill([id], { logits: 'last' }));
  requireSame('step by step', concatenate(rows), logits, model);
  await session.close();
};

const checkTruncation = async ({ model, steady: { ids, logits } }: Case): Promise<void> => {
  for (const length of cutsOf(ids)) {
    const session = await model.session();
    await session.prefill(ids.slice(0, length), { logits: 'none' });
    await session.prefill(detourOf(ids, length, model), { logits: 'none' });
    const landed = session.truncate(length);
    assert.ok(landed <= length, `truncate(${length}) landed on ${landed}`);
    assert.deepEqual(session.sequence.ids, ids.slice(0, landed), `what truncate(${length}) left`);
    const after = await session.prefill(ids.slice(landed));
    requireSame(`after truncate(${length})`, after, rowsFrom(logits, landed, model), model);
    await session.close();
  }
};

const checkSnapshot = async ({ model, steady: { ids, logits } }: Case): Promise<void> => {
  for (const length of cutsOf(ids)) {
    const session = await model.session();
    await session.prefill(ids.slice(0, length), { logits: 'none' });
    const snapshot = session.snapshot();
    for (const time of ['first', 'second']) {
      await session.prefill(detourOf(ids, length, model), { logits: 'none' });
      session.restore(snapshot);
      const after = await session.prefill(ids.slice(length));
      requireSame(`after the ${time} restore at ${length}`, after, rowsFrom(logits, length, model), model);
      session.truncate(length);
      session.restore(snapshot);
    }
    await session.close();
  }
};

/** One sequence a step behind its end, and another at its start: rows of both kinds in one forward. */
const checkBatch = async ({ model, reference, steady: { ids, logits } }: Case): Promise<void> => {
  const [one, other] = [await model.session(), await model.session()];
  const otherIds = [...reference.shortIds].slice(0, ids.length);
  const alone = await prefillWhole(model, Int32Array.from(otherIds));
  const held = ids.length - 2;
  await one.prefill(ids.slice(0, held), { logits: 'none' });
  const [first, second] = model.model.forward([
    { ids: ids.slice(held), position: held, finalLength: ids.length, states: one.sequence.states, logits: 'all' },
    { ids: otherIds, position: 0, finalLength: otherIds.length, states: other.sequence.states, logits: 'all' },
  ]);
  requireSame('the first sequence', first!, rowsFrom(logits, held, model), model);
  requireSame('the second sequence', second!, alone, model);
  await one.close();
  await other.close();
};

const checkDeterminism = async ({ model, reference, whole, reopen }: Case): Promise<void> => {
  assert.deepEqual(await prefillWhole(model, reference.inputIds), whole);
  assert.deepEqual(await prefillWhole(reopen(), reference.inputIds), whole);
};

const checkIdleKeys = ({ model, config, configSchema, derive }: Case, idle: Readonly<Record<string, string>>): void => {
  const keys = model.configAudit.read.filter((key) => !/(^|\.)model_type$/.test(key));
  const found = idleKeys({ config, keys, derive, listed: (name) => listedValues(configSchema, name) });
  const reported = found.filter((key) => !(key in idle));
  assert.deepEqual(reported, [], `read, but whatever they say the plan and the weights stay the same`);
  assert.deepEqual(
    Object.keys(idle).filter((key) => !found.includes(key)),
    [],
    'excused, but they change something',
  );
};

/** Lengths at which a sequence is cut: near both ends and between. */
const cutsOf = ({ length }: readonly number[]): number[] => [
  ...new Set([1, Math.floor(length / 3), Math.floor((2 * length) / 3), length - 1]),
];

/** Other tokens after `length`, within the context: a way that the sequence goes and comes back from. */
const detourOf = (ids: readonly number[], length: number, { facts: { plan } }: TestModel): number[] =>
  ids
    .map((id) => (id + 1) % plan.vocabSize)
    .reverse()
    .slice(0, Math.min(10, ids.length - length));

const rowsFrom = (logits: Float32Array, row: number, { facts: { plan } }: TestModel): Float32Array =>
  logits.subarray(row * plan.vocabSize);

const requireSame = (what: string, actual: Float32Array, expected: Float32Array, model: TestModel): void => {
  requireClose(what, actual, expected, model, SAME * standardDeviation(expected));
};

const requireClose = (
  what: string,
  actual: Float32Array,
  expected: Float32Array,
  { facts: { plan } }: TestModel,
  tolerance: number,
): void => {
  const comparison = compareLogits(actual, expected, plan.vocabSize);
  const ok = comparison.maxAbsDiff <= tolerance;
  assert.ok(ok, `${what}: ${describeComparison(comparison)}; allowed ${tolerance.toExponential(2)}`);
};

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};
