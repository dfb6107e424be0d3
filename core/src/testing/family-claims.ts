import assert from 'node:assert/strict';
import { compareLogits, concatenate, describeComparison, standardDeviation } from './compare.js';
import type { FamilyCase } from './family-case.js';
import { idleKeys, listedValues } from './idle-keys.js';
import type { TestModel } from './test-model.js';
import { continueGreedily, prefillWhole } from './verify.js';

/** How far two ways to the same logits may differ, in standard deviations of the logits. */
const SAME = 1e-5;

/** Nothing missing, nothing left over, nothing that could not be read, no key that nobody knows. */
export const checkAudits = ({ model }: FamilyCase): void => {
  const { missing, unexpected, misshaped, unreadable } = model.weightAudit;
  const found = { missing, unexpected, misshaped, unreadable, refusedKeys: model.configAudit.refused };
  assert.deepEqual(found, { missing: [], unexpected: [], misshaped: [], unreadable: [], refusedKeys: [] });
};

export const checkReference = async ({ model, reference, whole }: FamilyCase): Promise<void> => {
  assert.ok(reference !== null);
  const { tolerance } = reference.facts;
  const short = await prefillWhole(model, reference.shortIds);
  requireClose('long prompt', whole, reference.logits, model, tolerance);
  requireClose('short prompt', short, reference.shortLogits, model, tolerance);
};

export const checkGreedy = async ({ model, reference }: FamilyCase): Promise<void> => {
  assert.ok(reference !== null);
  const { shortIds, greedyIds } = reference;
  assert.deepEqual(await continueGreedily(model, shortIds, greedyIds.length), [...greedyIds]);
};

export const checkChunks = async ({ model, prompts, whole }: FamilyCase): Promise<void> => {
  for (const chunk of [1, 3, 64]) {
    const session = await model.session();
    const logits = await session.prefill([...prompts.inputIds], { chunk });
    requireSame(`in chunks of ${chunk}`, logits, whole, model);
    await session.close();
  }
};

export const checkSteps = async ({ model, steady: { ids, logits } }: FamilyCase): Promise<void> => {
  const session = await model.session();
  const rows: Float32Array[] = [];
  for (const id of ids) rows.push(await session.prefill([id], { logits: 'last' }));
  requireSame('step by step', concatenate(rows), logits, model);
  await session.close();
};

export const checkTruncation = async ({ model, steady: { ids, logits } }: FamilyCase): Promise<void> => {
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

export const checkSnapshot = async ({ model, steady: { ids, logits } }: FamilyCase): Promise<void> => {
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
export const checkBatch = async ({ model, prompts, steady: { ids, logits } }: FamilyCase): Promise<void> => {
  const [one, other] = [await model.session(), await model.session()];
  const otherIds = [...prompts.shortIds].slice(0, ids.length);
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

export const checkDeterminism = async ({ model, prompts, whole, reopen }: FamilyCase): Promise<void> => {
  assert.deepEqual(await prefillWhole(model, prompts.inputIds), whole);
  assert.deepEqual(await prefillWhole(reopen(), prompts.inputIds), whole);
};

export const checkIdleKeys = (
  { model, config, configSchema, derive }: FamilyCase,
  idle: Readonly<Record<string, string>>,
): void => {
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
