import type { ModelPlan } from '@kvad/core';
import {
  compareWithReference,
  describeComparison,
  familyIn,
  fixtureDirectory,
  openPlugin,
  readReference,
  TestModel,
  type TestModelOptions,
} from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { at, readJson } from '../../gates/sources.js';

/**
 * A plan that is wrong in one way that people have shipped must not pass: each of these gave fluent text somewhere.
 * It shows that the fixtures, and the comparison, can see the mistake.
 */
type Op = ModelPlan['layers'][number]['ops'][number];
// Options are JSON of their parts; a mutation reaches into them.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Options = any;

const eachOp =
  (change: (op: Op) => void) =>
  (plan: ModelPlan): ModelPlan => {
    for (const { ops } of plan.layers) ops.forEach(change);
    return plan;
  };
const mixers = (change: (options: Options) => void): ((plan: ModelPlan) => ModelPlan) =>
  eachOp((op) => {
    if (op.axis === 'mixer') change(op.options);
  });
const feedForwards = (change: (options: Options) => void): ((plan: ModelPlan) => ModelPlan) =>
  eachOp((op) => {
    if (op.axis === 'ffn') change(op.options);
  });
const changed =
  (change: (plan: Options) => void) =>
  (plan: ModelPlan): ModelPlan => {
    change(plan);
    return plan;
  };

const swapLayout = mixers(({ positions }) => {
  positions.layout = positions.layout === 'half' ? 'interleaved' : 'half';
});

const WRONG: readonly [fixture: string, mistake: string, edit: (plan: ModelPlan) => ModelPlan][] = [
  ['llama', 'rotary pairs of the other layout', swapLayout],
  ['qwen3', 'rotary pairs of the other layout', swapLayout],
  ['llama', 'rotary angles turned the other way', mixers(({ positions }) => void (positions.direction = 'backward'))],
  ['llama', 'another rotary base', changed(({ ropeTables }) => void (ropeTables.main.theta *= 1.05))],
  [
    'llama_llama3_rope',
    'rope scaling read and dropped',
    changed(({ ropeTables }) => void (ropeTables.main.factor = 1)),
  ],
  ['llama_yarn', 'attention factor dropped', changed(({ ropeTables }) => void (ropeTables.main.attentionFactor = 1))],
  ['llama', 'norm weights that are taken as 1 + w', eachOp(({ norm }) => void (norm.before!.offset = 1))],
  ['llama', 'only the final norm as 1 + w', changed(({ finalNorm }) => void (finalNorm.offset = 1))],
  ['llama', 'a mean subtracted in an RMS norm', changed(({ finalNorm }) => void (finalNorm.kind = 'layernorm'))],
  [
    'gpt2',
    'no mean subtracted in a layer norm',
    changed((plan) => {
      plan.finalNorm = { ...plan.finalNorm, kind: 'rms', bias: false };
    }),
  ],
  ['llama', 'the residual taken from the normed input', eachOp(({ residual }) => void (residual.from = 'normed'))],
  ['mistral', 'a window that is one longer', mixers(({ mask }) => void (mask.size += 1))],
  ['mistral', 'a window that is one shorter', mixers(({ mask }) => void (mask.size -= 1))],
  ['mistral', 'no window', mixers((options) => void (options.mask = { kind: 'causal' }))],
  ['qwen3', 'scores scaled by hidden / heads', mixers((options) => void (options.scale = (64 / 4) ** -0.5))],
  [
    'qwen3',
    'queries and keys normalised after the rotation',
    mixers(({ qkNorm }) => void (qkNorm.when = 'after-rope')),
  ],
  ['qwen3', 'queries and keys not normalised', mixers((options) => void delete options.qkNorm)],
  ['qwen2', 'no bias on queries', mixers(({ bias }) => void (bias.q = false))],
  ['qwen2', 'no bias on values', mixers(({ bias }) => void (bias.v = false))],
  ['gpt2', 'no bias on the output projection', mixers(({ bias }) => void (bias.o = false))],
  ['gpt2', 'the exact GELU for its tanh form', feedForwards(({ activation }) => void (activation.kind = 'gelu'))],
  ['llama', 'another activation', feedForwards(({ activation }) => void (activation.kind = 'gelu'))],
  ['gpt2', 'learned positions one further', changed(({ embedding }) => void (embedding.positions.offset = 1))],
  ['llama', 'scaled embeddings', changed(({ embedding }) => void (embedding.scale = Math.sqrt(64)))],
  ['llama', 'capped logits', changed(({ head }) => void (head.softcap = 30))],
  ['llama', 'parallel ops', eachOp(({ residual }) => void (residual.from = 'input'))],
  ['llama', 'the last layer left out', changed(({ schedule }) => void schedule.pop())],
  [
    'llama',
    'two layers exchanged',
    changed(({ layers, schedule }) => {
      [schedule[0].layer, schedule[1].layer] = [1, 0];
      expect(layers.length).toBeGreaterThan(1);
    }),
  ],
];

const dense = openPlugin(at('plugins/dense'));

const optionsFor = async (fixture: string): Promise<TestModelOptions> => {
  const directory = fixtureDirectory(at(`test/fixtures/dense-core/${fixture}`));
  const modelType = readJson(`test/fixtures/dense-core/${fixture}/config.json`)['model_type'] as string;
  const opened = await dense;
  return { under: familyIn([opened], modelType), plugins: [opened.plugin], directory };
};

const compare = async (options: TestModelOptions): Promise<{ passes: boolean; told: string }> => {
  const reference = readReference(options.directory);
  const { comparison } = await compareWithReference(TestModel.open(options), reference, options.directory);
  return { passes: comparison.maxAbsDiff <= reference.facts.tolerance, told: describeComparison(comparison) };
};

describe('a wrong plan does not pass', () => {
  it.each(WRONG)('%s: %s', async (fixture, _, edit) => {
    const { passes, told } = await compare({ ...(await optionsFor(fixture)), edit, anyWeights: true });
    expect(passes, told).toBe(false);
  });

  it.each([...new Set(WRONG.map(([fixture]) => fixture))])('%s passes with its own plan', async (fixture) => {
    const { passes, told } = await compare(await optionsFor(fixture));
    expect(passes, told).toBe(true);
  });

  it('a bias that the plan forgets is refused before anything is computed', async () => {
    const edit = mixers(({ bias }) => void (bias.q = false));
    const options = { ...(await optionsFor('qwen2')), edit };
    expect(() => TestModel.open(options)).toThrow(/q_proj\.bias/);
  });
});
