import { definePart, definePlugin, type FeedForward, type Plugin } from '@kvad/core/plugin';
import { openPlugin, testFamily, type OpenedPlugin, type TestFamilyOptions } from '@kvad/core/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { at } from '../../gates/sources.js';

const CLAIMS = {
  schemas: 'brings schemas that are valid',
  load: 'loads with every config key and every tensor accounted for',
  reference: 'gives the logits of the reference at every position',
  greedy: 'continues greedily as the reference does',
  chunks: 'gives the same in chunks of 1, 3 and 64 rows as in one',
  steps: 'gives the same step by step',
  truncation: 'continues after a truncation as if it had never gone further',
  snapshot: 'continues after a snapshot was restored as if nothing had come after it',
  batch: 'computes each of two sequences in one batch as alone',
  bits: 'computes the same bits again, and so does another instance',
  native: 'gives the same on native arithmetic, whole and step by step',
  precisions: 'stays near with matrices in bf16, q8 and q4',
  keys: 'reads no config key that changes nothing',
} as const;
type Claim = keyof typeof CLAIMS;

const NEED_NATIVE: readonly string[] = loadAddon() === null ? [CLAIMS.native, CLAIMS.precisions] : [];
const NAMES = Object.entries(CLAIMS).filter(([, name]) => !NEED_NATIVE.includes(name));

/** Runs the kit as a test runner would, and gives the claims that failed with their messages. */
const failuresOf = async (
  subject: Parameters<typeof testFamily>[0],
  options: Omit<TestFamilyOptions, 'describe' | 'it'>,
): Promise<Partial<Record<Claim, string>>> => {
  const claims = new Map<string, () => Promise<void>>();
  const runner = {
    describe: (_: string, body: () => void) => {
      body();
    },
    it: (name: string, body: () => Promise<void>) => claims.set(name, body),
  };
  testFamily(subject, { ...options, ...runner });
  expect([...claims.keys()]).toEqual(NAMES.map(([, name]) => name));
  const failures: Partial<Record<Claim, string>> = {};
  for (const [key, name] of NAMES) {
    await claims.get(name)!().catch((error: unknown) => {
      failures[key as Claim] = (error as Error).message;
    });
  }
  return failures;
};

const fixture = at('test/fixtures/dense-core/llama');
let dense: OpenedPlugin;
beforeAll(async () => {
  dense = await openPlugin(at('plugins/dense'));
});

/** The dense plugin with its families' plans changed, and parts beside its own. */
const altered = (edit: (plan: never, config: never) => void, feedForwards: readonly never[] = []): OpenedPlugin => {
  const plugin: Plugin = {
    ...dense.plugin,
    feedForwards: [...dense.plugin.feedForwards, ...feedForwards],
    families: dense.plugin.families.map((family) => ({
      ...family,
      plan: (config: unknown) => {
        const plan = family.plan(config);
        edit(plan as never, config as never);
        return plan;
      },
    })),
  };
  return { ...dense, plugin };
};

/** A feed-forward that leaves its input as it is, and adds what `extra` says. */
const feedForward = (extra: (ops: string) => (rows: number, positions: ArrayLike<number>) => number): never =>
  definePart<FeedForward, object>({
    kind: 'odd',
    about: 'for tests',
    options: { type: 'object', additionalProperties: false },
    slots: () => [],
    create: (_, { ops }) => {
      const value = extra(ops.name);
      return {
        state: [],
        forward: (x, out, { batch }) => {
          ops.copy(x, out);
          const bump = value(batch.rows, ops.host(batch.positions));
          const values = ops.host(out).slice() as Float32Array;
          values[values.length - 1]! += bump;
          ops.write(out, values);
        },
      };
    },
  }) as never;

const replaceFeedForward = (plan: never): void => {
  const { layers } = plan as { layers: { ops: { axis: string; kind: string; options: object }[] }[] };
  for (const op of layers.flatMap(({ ops }) => ops).filter(({ axis }) => axis === 'ffn')) {
    op.kind = 'odd';
    op.options = {};
  }
};

const failuresWith = (extra: (ops: string) => (rows: number, positions: ArrayLike<number>) => number) =>
  failuresOf('llama', { fixture, plugins: [altered(replaceFeedForward, [feedForward(extra)])] });

describe('testFamily', () => {
  it('has nothing to say against a family that is right', async () => {
    expect(await failuresOf('llama', { fixture, plugins: [dense] })).toEqual({});
  });

  it('takes a family, a folder, a URL', async () => {
    const family = dense.plugin.families.find(({ modelTypes }) => modelTypes.includes('llama'))!;
    const folder = new URL(`file://${fixture}`);
    expect(await failuresOf(family, { fixture: folder, plugins: [at('plugins/dense/package.json')] })).toEqual({});
  });

  it('sees a wrong plan, and says where and how far the logits are off', async () => {
    const plugin = altered((plan: { finalNorm: { offset: number } }) => void (plan.finalNorm.offset = 1));
    const failures = await failuresOf('llama', { fixture, plugins: [plugin] });
    expect(Object.keys(failures)).toContain('reference');
    expect(failures.reference).toMatch(
      /long prompt: max \|difference\| .* at position \d+ of 45, token \d+: .*; allowed/,
    );
  });

  it('sees a part that depends on the rows of a call', async () => {
    const failures = await failuresWith(() => (rows) => 0.1 * rows);
    for (const claim of ['chunks', 'steps', 'truncation', 'snapshot', 'batch'] as const) {
      expect(Object.keys(failures)).toContain(claim);
    }
  });

  it('sees a memory that nobody can rewind', async () => {
    const failures = await failuresWith(() => {
      let calls = 0;
      return () => 0.1 * calls++;
    });
    for (const claim of ['truncation', 'snapshot', 'bits'] as const) expect(Object.keys(failures)).toContain(claim);
  });

  it('sees a part that computes something else on native arithmetic, and what quantisation must not do', async () => {
    const failures = await failuresWith((ops) => () => (ops === 'reference' ? 0 : 40));
    const expected = NEED_NATIVE.length === 0 ? ['native', 'precisions'] : [];
    expect(Object.keys(failures).filter((claim) => claim === 'native' || claim === 'precisions')).toEqual(expected);
  });

  it('sees chance', async () => {
    expect(Object.keys(await failuresWith(() => () => Math.random()))).toContain('bits');
  });

  it('sees a config key that is read and dropped', async () => {
    const plugin = altered((plan: { ropeTables: { main: { theta: number } } }) => {
      plan.ropeTables.main.theta = 10_000;
    });
    const failures = await failuresOf('llama', { fixture, plugins: [plugin] });
    expect(Object.keys(failures)).toEqual(['keys']);
    expect(failures.keys).toContain('rope_theta');
    const excused = { fixture, plugins: [plugin], idle: { rope_theta: 'a test of the excuse' } };
    expect(await failuresOf('llama', excused)).toEqual({});
  });

  it('does not let an excuse grow old', async () => {
    const failures = await failuresOf('llama', { fixture, plugins: [dense], idle: { rope_theta: 'no longer true' } });
    expect(failures.keys).toContain('excused, but they change something');
  });

  it('names a family that no plugin has', async () => {
    const failures = await failuresOf('no_such_type', { fixture, plugins: [dense] });
    expect(failures.load).toBe('no family of @kvad/arch-dense has the model type "no_such_type"');
  });

  it('sees a schema that says nothing to a checker', async () => {
    const part = { ...(feedForward(() => () => 0) as object), options: { type: 'objekt' } } as never;
    const plugin = definePlugin({ name: 'p', apiVersion: 1, families: dense.plugin.families, feedForwards: [part] });
    const failures = await failuresOf('llama', { fixture, plugins: [{ ...dense, plugin }, dense] });
    expect(failures.schemas).toContain('odd');
  });
});
