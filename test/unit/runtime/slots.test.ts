import {
  BUILTIN_PARTS,
  definePart,
  definePlugin,
  layerNorm,
  PartRegistry,
  planSlots,
  rms,
  type ModelPlan,
} from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { HIDDEN, TOY, toyPlan, VOCAB } from './toy.js';

const weighted = (kind: string) => ({
  kind,
  about: '',
  options: { type: 'object' },
  slots: () => [{ name: 'w', shape: [3], role: 'exact' } as const],
});
const parts = PartRegistry.of([
  BUILTIN_PARTS,
  TOY,
  definePlugin({
    name: 'weighted',
    apiVersion: 1,
    inputs: [definePart({ ...weighted('side'), create: () => ({ forward: (x) => x }) })],
    stacks: [
      definePart({
        ...weighted('streams'),
        create: () => ({ width: HIDDEN, enter: (x) => x, before: () => undefined, leave: (x) => x }),
      }),
    ],
    blocks: [definePart({ ...weighted('wired'), create: () => ({ forward: () => undefined }) })],
  }),
]);

const names = (plan: ModelPlan): string[] => planSlots(plan, parts).map(({ name }) => name);

describe('the weights of a plan', () => {
  it('are named by embedding, layer and op, norm and head, in the order of the forward pass', () => {
    expect(names(toyPlan({ mixers: ['toy-memory'] }))).toEqual([
      'embedding.tokens.weight',
      'layers.0.mixer.in.weight',
      'layers.0.mixer.norm.before.weight',
      'layers.0.ffn.weight',
      'layers.0.ffn.norm.before.weight',
      'finalNorm.weight',
      'head.weight',
    ]);
  });

  it('have a pattern and a layer where a layer has them', () => {
    const slots = planSlots(toyPlan({ mixers: ['toy-memory', 'toy-memory'] }), parts);
    expect(slots.find(({ name }) => name === 'layers.1.ffn.norm.before.weight')).toEqual({
      name: 'layers.1.ffn.norm.before.weight',
      pattern: 'layers.{layer}.ffn.norm.before.weight',
      layer: 1,
      shape: [HIDDEN],
      role: 'exact',
    });
    expect(slots[0]).toMatchObject({ pattern: 'embedding.tokens.weight', layer: null, role: 'matrix' });
  });

  it('are all of those that a plan may have', () => {
    const plain = toyPlan({ mixers: ['toy-memory'] });
    const [mixer, ffn] = plain.layers[0]!.ops;
    const plan: ModelPlan = {
      ...plain,
      embedding: {
        size: 6,
        scale: 1,
        positions: { kind: 'learned', count: 20, offset: 2 },
        norm: layerNorm(1e-5),
        project: { bias: true },
      },
      inputs: [{ name: 'per-layer', kind: 'side', options: {} }],
      stack: { kind: 'streams', options: {} },
      layers: [
        {
          block: { kind: 'wired', options: {} },
          ops: [
            { ...mixer!, norm: { before: rms(1e-5), after: layerNorm(1e-5), sum: rms(1e-5) } },
            { ...ffn!, norm: {} },
          ],
        },
      ],
      finalNorm: null,
      head: {
        ...plain.head,
        before: [
          { axis: 'linear', kind: 'linear', options: { size: 5, bias: true } },
          { axis: 'activation', kind: 'gelu', options: {} },
          { axis: 'norm', kind: 'rms', options: { eps: 1e-5, offset: 0, weight: true, bias: false } },
        ],
        bias: true,
      },
    };
    expect(planSlots(plan, parts).map(({ name, shape }) => `${name} [${shape.join(', ')}]`)).toEqual([
      `embedding.tokens.weight [${VOCAB}, 6]`,
      `embedding.project.weight [${HIDDEN}, 6]`,
      `embedding.project.bias [${HIDDEN}]`,
      `embedding.positions.weight [20, ${HIDDEN}]`,
      `embedding.norm.weight [${HIDDEN}]`,
      `embedding.norm.bias [${HIDDEN}]`,
      'inputs.per-layer.w [3]',
      'stack.w [3]',
      'layers.0.block.w [3]',
      `layers.0.mixer.in.weight [${HIDDEN}, ${HIDDEN}]`,
      `layers.0.mixer.norm.before.weight [${HIDDEN}]`,
      `layers.0.mixer.norm.after.weight [${HIDDEN}]`,
      `layers.0.mixer.norm.after.bias [${HIDDEN}]`,
      `layers.0.mixer.norm.sum.weight [${HIDDEN}]`,
      `layers.0.ffn.weight [${HIDDEN}, ${HIDDEN}]`,
      `head.before.0.weight [5, ${HIDDEN}]`,
      'head.before.0.bias [5]',
      'head.before.2.weight [5]',
      `head.weight [${VOCAB}, 5]`,
      `head.bias [${VOCAB}]`,
    ]);
  });

  it('have each a name of its own', () => {
    const plan = toyPlan({ mixers: ['toy-memory'] });
    const [mixer, ffn] = plan.layers[0]!.ops;
    const layers: ModelPlan['layers'] = [{ ...plan.layers[0]!, ops: [mixer!, ffn!, { ...ffn! }] }];
    expect(() => names({ ...plan, layers })).toThrow('two weights of the plan have the name layers.0.ffn.weight');
  });

  it.each([
    [{ bias: true }, '/size must be a size'],
    [{ size: 0, bias: true }, '/size must be a size'],
    [{ size: 4, bias: 'yes' }, '/bias must be a boolean'],
  ])('before the head cannot be a linear step of %j', (options, reason) => {
    const plan = toyPlan();
    const before: ModelPlan['head']['before'] = [{ axis: 'linear', kind: 'linear', options }];
    expect(() => names({ ...plan, head: { ...plan.head, before } })).toThrow(reason);
  });
});
