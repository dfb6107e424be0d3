import type { PlanDraft } from '@kvad/core/plugin';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MadeFamily, type Config, type Sketch } from './made-family.js';

let made: MadeFamily;
beforeEach(() => (made = new MadeFamily()));
afterEach(() => made.remove());

const SIZES = ['vocab_size', 'hidden_size', 'num_hidden_layers', 'max_position_embeddings', 'model_type'];
const shared = (name: string): object => ({ $ref: `https://kvad.dev/schemas/config-rope.schema.json#/$defs/${name}` });
const error = (code: string, params: object = {}): unknown =>
  expect.objectContaining({ code, params: expect.objectContaining(params) as object });
/** A schema property, and a family that reads it. */
const reads = (properties: Record<string, unknown>, read: (config: Config) => unknown): Sketch => ({
  properties,
  read,
});

describe('what is read', () => {
  const audit = (sketch: Sketch, keys: Config) => {
    const { read, inert, refused } = made.plan(sketch, keys, { lenient: true }).audit;
    return { read: read.filter((key) => !SIZES.includes(key)), inert: inert.map(({ key }) => key), refused };
  };

  it('is a key whose value the plan or the weights take', () => {
    const sketch = reads({ a: {}, b: {} }, (c) => c['a']);
    expect(audit({ ...sketch, weights: (c: Config) => (c['b'] === 2 ? [] : []) }, { a: 1, b: 2 })).toEqual({
      read: ['a', 'b'],
      inert: [],
      refused: [],
    });
  });

  it('is the inner keys of an object, one by one', () => {
    const sketch = reads({ a: { type: 'object' } }, (c) => (c['a'] as Config)['x']);
    expect(audit(sketch, { a: { x: 1, y: 2 } })).toEqual({
      read: ['a.x'],
      inert: [],
      refused: [{ key: 'a.y', value: 2 }],
    });
  });

  it('is not an object that was only looked at', () => {
    const sketch = reads({ a: { type: 'object' } }, (c) => c['a'] !== undefined && 'x' in (c['a'] as Config));
    expect(audit(sketch, { a: { x: 1, y: { z: 2 } } }).refused).toEqual([{ key: 'a', value: { x: 1, y: { z: 2 } } }]);
  });

  it('is a list of values as a whole, a list of objects by their keys', () => {
    const sketch = reads({ list: { type: 'array' }, blocks: { type: 'array' } }, (c) => [
      (c['list'] as number[]).length,
      (c['blocks'] as Config[]).map((block) => block['size']),
    ]);
    expect(audit(sketch, { list: [1, 2], blocks: [{ size: 1 }, { size: 2, odd: true }] })).toEqual({
      read: ['list', 'blocks[].size'],
      inert: [],
      refused: [{ key: 'blocks[1].odd', value: true }],
    });
  });

  it('is an empty object or list when it is taken', () => {
    const sketch = reads({ a: { type: 'object' }, b: { type: 'array' } }, (c) => [c['a'], c['b']]);
    expect(audit(sketch, { a: {}, b: [] }).read).toEqual(['a', 'b']);
  });

  it.each<[string, (c: Config) => unknown]>([
    ['the keys', (c) => Object.keys(c)],
    ['a spread', (c) => ({ ...c })],
    ['JSON', (c) => JSON.stringify(c)],
    ['the keys of an object', (c) => Object.entries(c['a'] as Config)],
  ])('cannot be had by listing: %s', (_, read) => {
    expect(() => made.plan(reads({ a: { type: 'object' } }, read), { a: { x: 1 } })).toThrow(
      error('KVAD_E_PLUGIN', { plugin: 'kvad-arch-made', reason: expect.stringContaining('lists the keys') as string }),
    );
  });

  it('must be declared by the schema: nothing unchecked comes into a plan', () => {
    expect(() =>
      made.plan(
        reads({}, (c) => c['a']),
        { a: 1 },
      ),
    ).toThrow(error('KVAD_E_PLUGIN', { reason: 'the family reads "a", which its schema does not declare' }));
  });

  it('cannot be written', () => {
    const write = (c: Config): unknown => Object.assign(c, { a: 2 });
    expect(() => made.plan(reads({ a: {} }, write), { a: 1 })).toThrow(error('KVAD_E_PLUGIN'));
    const push = (c: Config): unknown => (c['a'] as number[]).push(3);
    expect(() => made.plan(reads({ a: {} }, push), { a: [1] })).toThrow(error('KVAD_E_PLUGIN'));
  });
});

describe('defaults and null', () => {
  const seen = (properties: Record<string, unknown>, keys: Config, key = 'a'): unknown => {
    let value: unknown = 'not asked';
    const { config } = made.plan(
      reads(properties, (c) => (value = c[key])),
      keys,
    );
    expect(config[key]).toEqual(value);
    return value;
  };

  it.each<[string, Record<string, unknown>, Config, unknown]>([
    ['absent: the default', { a: { type: 'integer', default: 4096 } }, {}, 4096],
    ['absent, without a default', { a: { type: 'integer' } }, {}, undefined],
    ['null where null is no value: absent', { a: { type: 'integer', default: 4096 } }, { a: null }, 4096],
    ['null where null is a value: null', { a: { type: ['integer', 'null'], default: 4096 } }, { a: null }, null],
    ['null by anyOf', { a: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: 7 } }, { a: null }, null],
    ['null by reference', { a: { ...shared('rope_scaling') } }, { a: null }, null],
  ])('%s', (_, properties, keys, value) => {
    expect(seen(properties, keys)).toEqual(value);
  });

  it('null inside of an object is absent as well', () => {
    const properties = { a: { type: 'object', properties: { x: { type: 'integer', default: 3 } } } };
    expect(
      made.plan(
        reads(properties, (c) => (c['a'] as Config)['x']),
        { a: { x: null } },
      ).config['a'],
    ).toEqual({ x: 3 });
  });

  it('a null key that nobody knows is not refused', () => {
    expect(made.plan({}, { odd: null }).audit.inert).toEqual([{ key: 'odd', reason: 'null is the same as absent' }]);
  });
});

describe('a key that nobody reads', () => {
  it('is refused, all of them in one error', () => {
    expect(() => made.plan({}, { attn_logit_softcapping: 50, odd: { x: [1] } })).toThrow(
      error('KVAD_E_CONFIG_UNKNOWN_KEY', {
        keys: ['attn_logit_softcapping', 'odd'],
        values: ['50', '{"x":[1]}'],
        file: '/models/made/config.json',
        family: 'made',
      }),
    );
  });

  it('is refused though the schema declares it', () => {
    expect(() => made.plan({ properties: { a: {} } }, { a: 1 })).toThrow(
      error('KVAD_E_CONFIG_UNKNOWN_KEY', { keys: ['a'] }),
    );
  });

  it('with --lenient stays in the audit', () => {
    expect(made.plan({}, { odd: 1 }, { lenient: true }).audit.refused).toEqual([{ key: 'odd', value: 1 }]);
  });

  it('may be declared inert, with all that is under it', () => {
    const sketch = { inert: { dropout: 'training only', vision: 'text only' } };
    expect(made.plan(sketch, { dropout: 0.1, vision: { size: 2 } }).audit.inert).toEqual([
      { key: 'dropout', reason: 'training only' },
      { key: 'vision', reason: 'text only' },
    ]);
  });

  it.each([
    ['is_encoder_decoder', false, true],
    ['add_cross_attention', false, true],
    ['pruned_heads', {}, { '0': [1] }],
  ])('%s: %j is known to all, %j is not', (key, off, on) => {
    expect(made.plan({}, { [key]: off }).audit.inert).toMatchObject([{ key }]);
    expect(() => made.plan({}, { [key]: on })).toThrow(error('KVAD_E_CONFIG_UNKNOWN_KEY', { keys: [key] }));
  });

  it.each(['is_causal', 'attention_bias', 'sliding_window', 'hidden_dropout', 'num_experts', 'mlp_bias'])(
    '%s is for a family to know',
    (key) => {
      expect(() => made.plan({}, { [key]: false })).toThrow(error('KVAD_E_CONFIG_UNKNOWN_KEY', { keys: [key] }));
    },
  );
});

describe('a config that is not valid', () => {
  it.each([null, 7, 'text', [1]])('%j is no config', (raw) => {
    expect(() => made.planRaw({}, raw)).toThrow(error('KVAD_E_CONFIG_READ', { file: '/models/made/config.json' }));
  });

  it('with more layers than a plan can list is refused before it is listed', () => {
    const properties = { n_layer: { type: 'integer' } };
    expect(() => made.plan({ properties }, { n_layer: 1e9 })).toThrow(
      error('KVAD_E_CONFIG_INVALID', {
        problems: [{ key: 'n_layer', value: '1000000000', rule: 'be <= 10000' }],
      }),
    );
  });

  it('is refused with key, value and what is allowed, all at once', () => {
    const properties = {
      eps: { type: 'number' },
      act: { enum: ['silu', 'gelu'] },
      inner: { type: 'object', properties: { n: { type: ['integer', 'null'], minimum: 1 } } },
    };
    expect(() =>
      made.plan({ properties, required: ['eps'] }, { act: 'relu', inner: { n: 'x' }, hidden_size: 0 }),
    ).toThrow(
      error('KVAD_E_CONFIG_INVALID', {
        problems: [
          { key: 'eps', value: null, rule: 'be given' },
          { key: 'hidden_size', value: '0', rule: 'be >= 1' },
          { key: 'act', value: '"relu"', rule: 'be one of "silu", "gelu"' },
          { key: 'inner.n', value: '"x"', rule: 'be integer or null' },
        ],
      }),
    );
  });

  it.each<[string, unknown, object]>([
    ['inside of a union', { factor: '2' }, { key: 'rope_scaling.factor', value: '"2"', rule: 'be number' }],
    ['of a union', 'yarn', { key: 'rope_scaling', value: '"yarn"', rule: 'be object or null' }],
  ])('is refused once for a value %s', (_, value, problem) => {
    const properties = { rope_scaling: shared('rope_scaling') };
    expect(() => made.plan({ properties }, { rope_scaling: value })).toThrow(
      error('KVAD_E_CONFIG_INVALID', { problems: [problem] }),
    );
  });

  it.each([
    ['gptq', { quantization_config: { quant_method: 'gptq', bits: 4 } }],
    ['modelopt NVFP4', { quantization_config: { quant_method: 'modelopt', quant_algo: 'NVFP4' } }],
    ['affine, 4 bits, groups of 64', { quantization: { group_size: 64, bits: 4 } }],
  ])('quantised by %s: refused by that name', (scheme, keys) => {
    expect(() => made.plan({}, keys)).toThrow(error('KVAD_E_CONFIG_QUANTIZED', { scheme, key: Object.keys(keys)[0] }));
  });

  it('dtype and torch_dtype must agree', () => {
    expect(made.plan({}, { dtype: 'bfloat16', torch_dtype: 'torch.bfloat16' }).audit.refused).toEqual([]);
    expect(() => made.plan({}, { dtype: 'bfloat16', torch_dtype: 'float16' })).toThrow(
      error('KVAD_E_CONFIG_CONFLICT', { keys: ['dtype', 'torch_dtype'], values: ['"bfloat16"', '"float16"'] }),
    );
  });
});

describe('a plan that is none', () => {
  it.each<[string, (draft: PlanDraft) => unknown, string, RegExp]>([
    ['a number that is not one', (draft) => ({ ...draft, vocabSize: NaN }), 'vocabSize', /is NaN/],
    [
      'an option that is not there',
      (draft) => ({ ...draft, stack: { kind: 'x', options: { a: undefined } } }),
      'stack.options.a',
      /undefined/,
    ],
    ['a word too many', (draft) => ({ ...draft, more: 1 }), '', /additional/],
    [
      'a layer that is not there',
      (draft) => ({ ...draft, schedule: [{ layer: 2, state: 0 }] }),
      'schedule.0.layer',
      /2 layers/,
    ],
  ])('%s', (_, change, path, reason) => {
    expect(() => made.plan({ change }, {})).toThrow(
      error('KVAD_E_PLAN_INVALID', { family: 'made', path, reason: expect.stringMatching(reason) as string }),
    );
  });

  it('is the plugin to blame where it throws', () => {
    const read = (c: Config): unknown => (c['a'] as Config)['x'];
    expect(() => made.plan(reads({ a: {} }, read), {})).toThrow(error('KVAD_E_PLUGIN', { plugin: 'kvad-arch-made' }));
  });

  it('names version, family and type', () => {
    expect(made.plan({}, {}).plan).toMatchObject({ version: 1, family: 'made', modelType: 'made', hiddenSize: 64 });
  });
});
