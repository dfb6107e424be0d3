import { BUILTIN_PARTS, definePart, definePlugin, gatherParts, PartRegistry, type Plugin } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { TOY, toyPlan } from './toy.js';

const DIMS = { hiddenSize: 8, vocabSize: 4 };
const parts = PartRegistry.of([BUILTIN_PARTS, TOY]);

const plugin = (name: string, lists: Partial<Plugin>): Plugin => definePlugin({ name, apiVersion: 1, ...lists });

const NO_OPTIONS = { type: 'object', additionalProperties: false };
const noForward = { forward: () => undefined };

describe('a part', () => {
  it('that nobody brings is refused with its axis, its kind and what is known', () => {
    const unknown = () => parts.slots('mixer', { kind: 'mamba9', options: {} }, DIMS, '');
    expect(unknown).toThrow('no plugin brings the mixer "mamba9"; known: toy-attention, toy-memory');
  });

  it.each([
    [{}, 'the whole', "must have required property 'rope'"],
    [{ rope: 3 }, '/rope', 'must be string,null'],
    [{ rope: null, heads: 3 }, 'the whole', 'must NOT have additional properties (heads)'],
  ])('with the options %j is refused with the path', (options, path, reason) => {
    const slots = () => parts.slots('mixer', { kind: 'toy-attention', options }, DIMS, '');
    expect(slots).toThrow(`the mixer "toy-attention" refuses its options: ${path} ${reason}`);
  });

  it('with a value that is none of a list is refused with the list', () => {
    const slots = () => parts.slots('ffn', { kind: 'toy-ffn', options: { fault: 'yes' } }, DIMS, '');
    expect(slots).toThrow('/fault must be equal to one of the allowed values (none, throw, exit, nan, slow, print)');
  });

  it('that two plugins bring is refused', () => {
    expect(() => PartRegistry.of([TOY, { ...TOY, name: 'other' }])).toThrow(
      'two plugins bring the mixer "toy-attention"',
    );
  });

  it('that throws is named with its own message, and its error is the cause', () => {
    const failure = new TypeError('no such size');
    const broken = definePart({
      kind: 'broken',
      about: '',
      options: NO_OPTIONS,
      slots: () => {
        throw failure;
      },
      create: () => noForward,
    });
    const slots = () =>
      PartRegistry.of([plugin('p', { sharedExperts: [broken] })]).slots(
        'shared-expert',
        { kind: 'broken', options: {} },
        DIMS,
        '',
      );
    expect(slots).toThrow(
      expect.objectContaining({
        code: 'KVAD_E_PLUGIN',
        message: 'plugin that brings the shared-expert "broken" failed: no such size',
        cause: failure,
      }) as Error,
    );
  });

  it('whose schema is none is named too', () => {
    const broken = definePart({
      kind: 'broken',
      about: '',
      options: { type: 'objekt' },
      slots: () => [],
      create: () => noForward,
    });
    const registry = PartRegistry.of([plugin('p', { sharedExperts: [broken] })]);
    const slots = () => registry.slots('shared-expert', { kind: 'broken', options: {} }, DIMS, '');
    expect(slots).toThrow(/plugin that brings the shared-expert "broken" failed: schema is invalid/);
  });

  it('has the names of its weights under a prefix', () => {
    const names = parts.slots('ffn', { kind: 'toy-ffn', options: { fault: 'none' } }, DIMS, 'a.b.');
    expect(names.map(({ name }) => name)).toEqual(['a.b.weight']);
  });
});

describe('gathering the parts of a plan', () => {
  const router = definePart({
    kind: 'nested-router',
    about: '',
    options: NO_OPTIONS,
    slots: () => [],
    create: () => ({ k: 1, ...noForward }),
  });
  const ffn = definePart({
    kind: 'nesting-ffn',
    about: '',
    options: { type: 'object', required: ['router'], properties: { router: { type: 'object' } } },
    nested: ({ router: part }: { router: { kind: string; options: object } }) => [{ axis: 'router', part } as const],
    slots: () => [],
    create: () => ({ state: [], ...noForward }),
  });
  const plugins = [TOY, plugin('ffns', { feedForwards: [ffn] }), plugin('routers', { routers: [router] })];

  /** Brings the plugin that has a kind, and writes down what it was asked for. */
  const source = () => {
    const asked: string[] = [];
    const lists = { mixer: 'mixers', ffn: 'feedForwards', router: 'routers' } as const;
    const require = (kinds: readonly { axis: string; kind: string }[]) => {
      asked.push(kinds.map(({ axis, kind }) => `${axis} ${kind}`).join(', '));
      const found = plugins.filter((one) =>
        kinds.some(({ axis, kind }) => one[lists[axis as keyof typeof lists]].some((part) => part.kind === kind)),
      );
      return Promise.resolve(found.map((one) => ({ plugin: one })));
    };
    return { asked, require };
  };

  it('asks for the kinds that core does not have, and then for those that they name', async () => {
    const plan = toyPlan({ mixers: ['toy-attention'] });
    const [mixer, feedForward] = plan.layers[0]!.ops;
    const nesting = { kind: 'nesting-ffn', options: { router: { kind: 'nested-router', options: {} } } };
    const layers = [{ ...plan.layers[0]!, ops: [mixer!, { ...feedForward!, ...nesting }] }];
    const { asked, require } = source();
    const gathered = await gatherParts({ ...plan, layers }, { require }, (some) => PartRegistry.of(some));
    expect(asked).toEqual(['mixer toy-attention, ffn nesting-ffn', 'router nested-router']);
    expect(gathered.has('router', 'nested-router')).toBe(true);
  });

  it('asks for nothing where core has all', async () => {
    const { asked, require } = source();
    const plan = { ...toyPlan(), layers: [] as never };
    await gatherParts(plan, { require }, (some) => PartRegistry.of(some));
    expect(asked).toEqual([]);
  });
});
