import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { planProblem, schemaCompiler, variantsOf } from '@kvad/core';
import { schema, type CliBench, type ModelPlan } from '@kvad/schemas';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCommandLine } from '../../../cli/dist/commands/main.js';
import { randomWeights } from '../../../core/dist/bench/random-weights.js';
import { spread } from '../../../core/dist/bench/statistics.js';
import { weightTraffic } from '../../../core/dist/bench/variants.js';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { fakeIo } from '../cli/fake-io.js';

const plans = path.resolve('test/bench/plans');
const readPlan = (name: string): ModelPlan => JSON.parse(readFileSync(path.join(plans, name), 'utf8')) as ModelPlan;
const validate = schemaCompiler().compile(schema('cli-bench'));

const bench = async (...words: string[]): Promise<{ exit: number; err: string; json: CliBench }> => {
  const io = fakeIo();
  const exit = await runCommandLine(['bench', '--json', ...words], io);
  const json = (io.out() === '' ? {} : JSON.parse(io.out())) as CliBench;
  if (io.out() !== '') expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
  return { exit, err: io.err(), json };
};
/** A plan, to be spoilt. */
interface Sizes {
  embedding: { size: number };
  contextLength: number;
  layers: { ops: { options: Record<string, unknown> }[] }[];
  schedule: { layer: number; state: number }[];
}

const quick = ['--rounds', '2', '--prompt-tokens', '8', '--decode-tokens', '3'];

describe('what is measured', () => {
  it('is summed up by median and range', () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spread([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  it('has a control arm for each quantised precision', () => {
    expect(variantsOf(['bf16', 'q8', 'q4'], true).map(({ name }) => name)).toEqual([
      'bf16',
      'q8',
      'q8-dequant',
      'q4',
      'q4-dequant',
    ]);
  });

  it('counts of a token the head but not the table, active experts but not the others, and each visit of a layer', () => {
    const plan = {
      head: { tied: false },
      schedule: [0, 0].map((layer, state) => ({ layer, state })),
    } as unknown as ModelPlan;
    const slot = (name: string, shape: number[], role: 'matrix' | 'stack', more: object) => ({
      name,
      pattern: name,
      shape,
      role,
      layer: null,
      ...more,
    });
    const slots = [
      slot('embedding.tokens.weight', [100, 32], 'matrix', {}),
      slot('layers.0.ffn.experts', [8, 32, 32], 'stack', { layer: 0, active: 2 }),
      slot('head.weight', [100, 32], 'matrix', {}),
    ];
    const own = { sourceOf: (name: string) => name };
    expect(weightTraffic(plan, slots, own, 'f32')).toEqual({
      held: 4 * 32 * (100 + 8 * 32 + 100),
      perToken: 4 * 32 * (2 * 2 * 32 + 100),
    });
    const tied = { sourceOf: (name: string) => (name === 'head.weight' ? 'embedding.tokens.weight' : name) };
    expect(weightTraffic(plan, slots, tied, 'q4')).toEqual({
      held: 100 * 34 + 8 * 32 * 18,
      perToken: 2 * 2 * 32 * 18 + 100 * 34,
    });
  });
});

describe('KVAD_DEQUANT=1', () => {
  it('leaves the control arms alone, unless both are asked for', () => {
    const names = (control: boolean): string[] =>
      variantsOf(['bf16', 'q8', 'q4'], control, true).map(({ name }) => name);
    expect(names(false)).toEqual(['bf16', 'q8-dequant', 'q4-dequant']);
    expect(names(true)).toEqual(variantsOf(['bf16', 'q8', 'q4'], true).map(({ name }) => name));
  });

  it.runIf(loadAddon() !== null)('reaches what kvad bench measures', async () => {
    const io = { ...fakeIo(), env: { KVAD_DEQUANT: '1' } };
    expect(await runCommandLine(['bench', '--json', ...quick, '--quant', 'q8'], io)).toBe(0);
    expect((JSON.parse(io.out()) as CliBench).results.map(({ variant }) => variant)).toEqual(['q8-dequant']);
  });
});

describe('random weights', () => {
  it('are the same each time, finite, and of the shape that is asked for', () => {
    const slots = [{ name: 'a', pattern: 'a', shape: [70, 33], role: 'matrix' as const, layer: null }];
    const plan = { head: { tied: true } } as ModelPlan;
    const [first, second] = [1, 2].map(() => randomWeights(plan, slots, 'f32').read('a'));
    expect(first).toEqual(second);
    const values = new Float32Array(first!.bytes.buffer, first!.bytes.byteOffset, 70 * 33);
    expect(values.every((v) => Number.isFinite(v) && Math.abs(v) < 0.1)).toBe(true);
    expect(new Set(values.subarray(0, 100)).size).toBeGreaterThan(90);
  });
});

describe('kvad bench', () => {
  it.each(readdirSync(plans))('has a plan of the right form in %s', (name) => {
    expect(planProblem(readPlan(name))).toBeNull();
  });

  it.runIf(loadAddon() !== null)('measures each variant of the bundled model beside the read bandwidth', async () => {
    const { exit, json } = await bench(...quick, '--quant', 'f32,q8', '--control');
    expect(exit).toBe(0);
    expect(json.results.map(({ variant }) => variant)).toEqual(['f32', 'q8', 'q8-dequant']);
    for (const result of json.results) {
      expect(result.decode_tokens_per_second).toBeGreaterThan(0);
      expect(result.prefill_range.min).toBeLessThanOrEqual(result.prefill_range.max);
      expect(result.bandwidth_share).toBeCloseTo(
        result.weight_gigabytes_per_second / json.machine.read_gigabytes_per_second!.median,
      );
    }
    expect(json.results[0]!.weight_bytes).toBeGreaterThan(3 * json.results[1]!.weight_bytes);
  });

  it.each<[string, readonly string[], string]>([
    ['a precision that is none', ['--quant', 'q8,q5'], 'KVAD_E_OPTION'],
    ['a plan that is none', ['--plan', 'package.json'], 'KVAD_E_PLAN_FILE'],
    ['a prompt beyond the context', ['--prompt-tokens', '1000000', '--quant', 'f32'], 'KVAD_E_CONTEXT'],
    ['tokens behind others that fill the context', ['--depth', '1000000', '--quant', 'f32'], 'KVAD_E_CONTEXT'],
    ['an empty precision', ['--quant', 'q8,'], 'KVAD_E_OPTION'],
  ])('refuses %s', async (_, words, code) => {
    const { exit, err } = await bench(...words);
    expect({ exit, code: /KVAD_E_\w+/.exec(err)?.[0] }).toEqual({ exit: 1, code });
  });

  it.each<[string, string, (plan: Sizes) => void]>([
    ['embedding.size is 500', 'an embedding of another width', (plan) => (plan.embedding.size = 500)],
    ['kvHeads is 2', 'key heads that do not divide', (plan) => (plan.layers[0]!.ops[0]!.options['kvHeads'] = 2)],
    ['kvHeads is 18', 'more key heads than heads', (plan) => (plan.layers[0]!.ops[0]!.options['kvHeads'] = 18)],
    ['/kvHeads', 'a negative number of heads', (plan) => (plan.layers[0]!.ops[0]!.options['kvHeads'] = -3)],
    [
      'do not go together',
      'heads narrower than their rope',
      (plan) => (plan.layers[0]!.ops[0]!.options['headDim'] = 62),
    ],
    [
      'state 0',
      'a state that two visits have',
      (plan) => (plan.schedule = [0, 1].map((layer) => ({ layer, state: 0 }))),
    ],
  ])('says of a plan file "%s" where it has %s', async (said, _, spoil) => {
    const plan = readPlan('smollm2-135m.json') as unknown as Sizes;
    plan.layers = plan.layers.slice(0, 2);
    plan.schedule = [0, 1].map((layer) => ({ layer, state: layer }));
    spoil(plan);
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'kvad-plan-')), 'plan.json');
    onTestFinished(() => {
      rmSync(path.dirname(file), { recursive: true });
    });
    writeFileSync(file, JSON.stringify(plan));
    const { exit, err } = await bench(...quick, '--quant', 'bf16', '--plan', file);
    expect({ exit, code: /KVAD_E_\w+/.exec(err)?.[0] }).toEqual({ exit: 1, code: 'KVAD_E_PLAN_FILE' });
    expect(err).toContain(`${file} is no plan`);
    expect(err).toContain(said);
  });

  it('counts the states of all tokens among what has to fit in memory', async () => {
    const plan = readPlan('smollm2-135m.json') as unknown as Sizes;
    plan.contextLength = 2 ** 30;
    plan.schedule = Array.from({ length: 1000 }, (_, state) => ({ layer: state % plan.layers.length, state }));
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'kvad-plan-')), 'plan.json');
    onTestFinished(() => {
      rmSync(path.dirname(file), { recursive: true });
    });
    writeFileSync(file, JSON.stringify(plan));
    // 768 bytes a token and visit in f16: 3 key heads of 64 and as many values
    const { exit, err } = await bench(...quick, '--quant', 'q4', '--depth', '1000000', '--plan', file);
    expect({ exit, code: /KVAD_E_\w+/.exec(err)?.[0] }).toEqual({ exit: 1, code: 'KVAD_E_BENCH_MEMORY' });
    expect(Number(/needs ([\d.]+) GB/.exec(err)?.[1])).toBeCloseTo((768 * 1000 * 1e6) / 1e9, -1);
  });

  it('says that quantised weights could not be kept', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'kvad-cache-')), 'file');
    onTestFinished(() => {
      rmSync(path.dirname(file), { recursive: true });
    });
    writeFileSync(file, '');
    vi.stubEnv('XDG_CACHE_HOME', file); // a file, where a folder has to be
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { exit, err, json } = await bench(...quick, '--quant', 'q8', '--control');
    expect(exit).toBe(0);
    const said = json.warnings.filter((warning) => warning.includes('could not be kept'));
    expect(said).toHaveLength(loadAddon() === null ? 0 : 1);
    for (const warning of said) expect(err).toContain(warning);
  });

  it.each([
    [['cli/model', '--plan', path.join(plans, 'smollm2-135m.json')]],
    [['cli/model', '--kernels']],
    [['--kernels', '--plan', path.join(plans, 'smollm2-135m.json')]],
    [['--kernels', '--control']],
    [['--kernels', '--beside-busy']],
  ])('refuses what it would pass over: %j', async (words) => {
    const { exit, err } = await bench(...words);
    expect({ exit, code: /KVAD_E_\w+/.exec(err)?.[0] }).toEqual({ exit: 2, code: 'KVAD_E_USAGE' });
  });
});
