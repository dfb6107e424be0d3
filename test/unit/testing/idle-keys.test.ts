import { KvadError } from '@kvad/core';
import { idleKeys, listedValues, otherValues } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';

type Config = Readonly<Record<string, never>>;

const refuse = (): never => {
  throw new KvadError('KVAD_E_PLUGIN', { plugin: 'test', reason: 'refused' });
};
const idle = (config: object, derive: (config: Config) => unknown): string[] =>
  idleKeys({
    config: config as Config,
    keys: Object.keys(config),
    derive: derive as Parameters<typeof idleKeys>[0]['derive'],
    listed: (name) => (name === 'kind' ? ['a', 'b'] : []),
  });

describe('idleKeys', () => {
  it('finds a key that was read and dropped', () => {
    expect(idle({ size: 4, theta: 1e4 }, ({ size, theta }) => ({ size, unused: (theta ?? 0) * 0 }))).toEqual(['theta']);
  });

  it.each([
    ['a number', { x: 3 }],
    ['a fraction', { x: 1e-6 }],
    ['a flag', { x: true }],
    ['a name', { x: 'silu' }],
    ['a list', { x: [1, 1] }],
    ['null', { x: null }],
  ])('changes %s', (_, config) => {
    expect(idle(config, ({ x }) => ({ x }))).toEqual([]);
    expect(idle(config, () => 'the same')).toEqual(['x']);
  });

  it('a key that takes no other value matters: it is checked', () => {
    expect(idle({ causal: true }, ({ causal }) => (causal ? 1 : refuse()))).toEqual([]);
  });

  it('a key whose accepted values all come to the same is idle, though others are refused', () => {
    expect(idle({ kind: 'a' }, ({ kind }) => (kind === 'a' || kind === 'b' ? 1 : refuse()))).toEqual(['kind']);
  });

  it('a key that matters only beside another one is not idle', () => {
    const derive = ({ sliding, window }: { sliding: boolean; window: number }): unknown => (sliding ? window : null);
    expect(idle({ sliding: false, window: 16 }, derive as never)).toEqual([]);
  });

  it('a key that matters only where another one is absent is not idle', () => {
    const derive = ({ list, rule }: { list?: number[]; rule: number }): unknown => list ?? [rule, rule];
    expect(idle({ list: [1, 2], rule: 3 }, derive as never)).toEqual([]);
  });

  it('reaches into objects and lists of objects', () => {
    const config = { rope: { theta: 1 }, blocks: [{ size: 2, note: 3 }] };
    const found = idleKeys({
      config,
      keys: ['rope.theta', 'blocks[].size', 'blocks[].note'],
      derive: (c) => [(c['rope'] as { theta: number }).theta, (c['blocks'] as { size: number }[])[0]!.size],
    });
    expect(found).toEqual(['blocks[].note']);
  });

  it('lets an error through that is not a refusal', () => {
    const broken = (): never => {
      throw new TypeError('a mistake of the family');
    };
    expect(() => idle({ x: 1 }, broken)).toThrow(TypeError);
  });
});

it('otherValues never gives the value itself, nor one twice', () => {
  expect(otherValues(1, [1, 2, 2])).toEqual([2, 0]);
});

it('listedValues finds what a schema lists, at any depth', () => {
  const schema = {
    properties: {
      act: { anyOf: [{ enum: ['x', 'y'] }, { const: null }] },
      rope: { properties: { type: { enum: ['z'] } } },
    },
  };
  expect(listedValues(schema, 'act')).toEqual(['x', 'y', null]);
  expect(listedValues(schema, 'type')).toEqual(['z']);
});
