import { refuseBadWeights } from '@kvad/core';
import { from, unneeded, withPrefixes, type WeightRule } from '@kvad/core/plugin';
import { describe, expect, it } from 'vitest';
import { f32, refusal, zeros } from './files.js';
import { bind, LAYERS, RULES, rename, slot, slots, tensors, without } from './models.js';

const numbers = (bytes: Uint8Array): number[] => [...new Float32Array(bytes.slice().buffer)];

describe('binding', () => {
  it('fills every slot, and the audit finds nothing wrong', () => {
    const { weights, audit, directory } = bind(tensors());
    refuseBadWeights(audit, { directory });
    expect(audit).toEqual({
      missing: [],
      unexpected: [],
      misshaped: [],
      partlyRead: [],
      unreadable: [],
      unneeded: [],
      diagnosis: null,
    });
    for (const { name, shape } of slots()) expect(weights.read(name)).toMatchObject({ dtype: 'F32', shape });
    expect(numbers(weights.read('head.weight').bytes).slice(0, 3)).toEqual([-0, -1, -2]);
    expect(weights.has('layers.0.mixer.q.bias')).toBe(false);
    expect(() => weights.read('layers.0.mixer.q.bias')).toThrow(/is not bound/);
  });

  it('takes the first source whose tensors are all there', () => {
    const rules = withPrefixes(['model.', 'transformer.'], [from('head.weight', '{prefix}a.weight')]);
    const head = [slot('head.weight', [2])];
    const read = (names: string[]): string => {
      const { weights } = bind(Object.fromEntries(names.map((name) => [name, f32([2])])), { slots: head, rules });
      return weights.sourceOf('head.weight');
    };
    expect(read(['transformer.a.weight'])).toBe('transformer.a.weight');
    expect(read(['transformer.a.weight', 'model.a.weight'])).toBe('model.a.weight');
  });

  it('a rule for the slot of one layer goes before that for all', () => {
    const rules = [...RULES, from('layers.1.mixer.norm.before.weight', 'model.special.weight')];
    const stored = rename(tensors(), (name) => name.replace('model.layers.1.norm', 'model.special'));
    const { audit, weights } = bind(stored, { rules });
    expect(audit.diagnosis).toBeNull();
    expect(weights.sourceOf('layers.1.mixer.norm.before.weight')).toBe('model.special.weight');
  });

  it('of several sources that are all absent, those nearest to what is there are told', () => {
    const rules = withPrefixes(
      ['model.', '', 'transformer.'],
      [from('layers.{layer}.a', '{prefix}layers.{layer}.a'), from('layers.{layer}.b', '{prefix}layers.{layer}.b')],
    );
    const both = [slot('layers.{layer}.a', [1], 0), slot('layers.{layer}.b', [1], 0)];
    const missing = (stored: string): readonly string[] =>
      bind({ [stored]: f32([1]) }, { slots: both, rules }).audit.missing.flatMap((finding) => finding.tensors);
    expect(missing('transformer.layers.0.a')).toEqual(['transformer.layers.0.b']);
    expect(missing('layers.0.a')).toEqual(['layers.0.b']);
    expect(missing('x')).toHaveLength(6);
  });

  it('slots with one source share it, row ranges of one tensor do not', () => {
    const rules = [
      from('a', 'fused', { op: 'rows', start: 0, count: 2 }),
      from('b', 'fused', { op: 'rows', start: 2, count: 1 }),
      from('c', 'fused', { op: 'rows', start: 0, count: 2 }),
    ];
    const three = [slot('a', [2]), slot('b', [1]), slot('c', [2])];
    const { weights, audit } = bind({ fused: f32([3]) }, { slots: three, rules });
    expect(audit.diagnosis).toBeNull();
    expect(weights.sourceOf('a')).toBe(weights.sourceOf('c'));
    expect(weights.sourceOf('a')).not.toBe(weights.sourceOf('b'));
    const [a, b] = [weights.read('a').bytes, weights.read('b').bytes];
    expect(a.buffer).toBe(b.buffer);
    expect([numbers(a), numbers(b)]).toEqual([[0, 1], [2]]);
  });

  it('stacks experts, and one that is absent is the only one named', () => {
    const rules = [from('layers.{layer}.ffn.up', 'l.{layer}.e.{expert}.up', { op: 'stack', count: 3 })];
    const one = [slot('layers.{layer}.ffn.up', [3, 1, 2], 0, 'stack')];
    const stored = { 'l.0.e.0.up': f32([1, 2]), 'l.0.e.1.up': f32([1, 2], [7, 8]), 'l.0.e.2.up': f32([1, 2]) };
    expect(numbers(bind(stored, { slots: one, rules }).weights.read('layers.0.ffn.up').bytes)).toEqual([
      0, 1, 7, 8, 0, 1,
    ]);
    const { audit } = bind(
      without(stored, (name) => name === 'l.0.e.1.up'),
      { slots: one, rules },
    );
    expect(audit).toMatchObject({ missing: [{ slot: 'layers.0.ffn.up', tensors: ['l.0.e.1.up'] }], unexpected: [] });
  });

  it('integer tables are read as integers and nothing else', () => {
    const table = [slot('table', [2], null, 'integers')];
    const rules = [from('table', 't')];
    expect(bind({ t: zeros('I64', [2], 16) }, { slots: table, rules }).weights.read('table').dtype).toBe('I64');
    expect(bind({ t: f32([2]) }, { slots: table, rules }).audit.unreadable).toMatchObject([
      { tensor: 't', dtype: 'F32' },
    ]);
    const float = [slot('table', [2])];
    expect(bind({ t: zeros('I32', [2], 8) }, { slots: float, rules }).audit.unreadable).toMatchObject([
      { dtype: 'I32' },
    ]);
  });

  it.each<[string, WeightRule[]]>([
    ['no rule fills this slot', []],
    ['"a.{layer}" has no layer here', [from('a', 'a.{layer}')]],
    ['has {expert} without stack', [from('a', 'a.{expert}')]],
    ['or stack without {expert}', [from('a', 'a', { op: 'stack', count: 2 })]],
    [
      'names several tensors and does not say concat',
      [{ slot: 'a', sources: [{ tensors: ['b', 'c'], transform: [] }] }],
    ],
    ['names no tensor', [{ slot: 'a', sources: [{ tensors: [], transform: [] }] }]],
  ])('a faulty map is the fault of its plugin: %s', (reason, rules) => {
    const error = refusal(() => bind({ a: f32([1]) }, { slots: [slot('a', [1])], rules }));
    expect(error.code).toBe('KVAD_E_WEIGHTS_RULE');
    expect(error.message).toContain(reason);
  });
});

describe('the audit', () => {
  it('counts what is not needed, by reason', () => {
    const extra = Object.fromEntries(
      [0, 1, 2].map((i) => [`model.layers.${i}.rotary_emb.inv_freq`, zeros('F64', [2], 16)]),
    );
    const rules = [...RULES, unneeded('visual.*', 'images'), unneeded('audio.*', 'sounds')];
    const { audit } = bind({ ...tensors(), ...extra, 'visual.a.b': f32([1]) }, { rules });
    expect(audit.diagnosis).toBeNull();
    expect(audit.unneeded).toEqual([
      { pattern: 'model.layers.{layer}.rotary_emb.inv_freq', reason: 'computed from the config', count: LAYERS },
      { pattern: 'visual.*', reason: 'images', count: 1 },
    ]);
  });

  it('patterns are names, not regular expressions', () => {
    const rules = [...RULES, unneeded('a.b', 'x'), unneeded('n.{expert}.w', 'y')];
    const extra = { aXb: f32([1]), 'a.b': f32([1]), 'n.1.w': f32([1]), 'n.x.w': f32([1]), 'n.1.w.more': f32([1]) };
    expect(bind({ ...tensors(), ...extra }, { rules }).audit.unexpected).toEqual(['aXb', 'n.x.w', 'n.1.w.more']);
  });

  it('a fused tensor that the plan does not use up is refused', () => {
    // Two key heads are stored, the config says one: each row range fits, and the values are wrong.
    const rules = [
      from('q', 'qkv', { op: 'rows', start: 0, count: 4 }),
      from('k', 'qkv', { op: 'rows', start: 4, count: 1 }),
      from('v', 'qkv', { op: 'rows', start: 5, count: 1 }),
    ];
    const three = [slot('q', [4]), slot('k', [1]), slot('v', [1])];
    const { audit, directory } = bind({ qkv: f32([8]) }, { slots: three, rules });
    expect(audit.partlyRead).toEqual([{ tensor: 'qkv', slots: ['q', 'k', 'v'], elements: 8, read: 6 }]);
    const error = refusal(() => refuseBadWeights(audit, { directory }));
    expect(error.code).toBe('KVAD_E_WEIGHTS_SHAPE');
    expect(error.message).toContain('1 partly read: qkv');
    expect(error.message).toContain(
      'was stored for other sizes than config.json tells: q, k, v take 6 of its 8 elements',
    );
    expect(
      bind({ qkv: f32([8]) }, { slots: three, rules: [...rules, unneeded('qkv', 'the rest is for training')] }).audit
        .diagnosis,
    ).toBeNull();
  });

  it('a transform that does not fit is a wrong shape, with its reason', () => {
    const rules = [from('a', 't', { op: 'transpose' })];
    const { audit, directory } = bind({ t: f32([4]) }, { slots: [slot('a', [2, 2])], rules });
    expect(audit.misshaped).toEqual([
      { slot: 'a', tensor: 't', expected: [2, 2], found: [4], reason: 'transpose needs two axes, not [4]' },
    ]);
    expect(refusal(() => refuseBadWeights(audit, { directory })).message).toContain(
      '1 misshaped: t is [4], not [2, 2] (transpose needs two axes, not [4])',
    );
  });
});
