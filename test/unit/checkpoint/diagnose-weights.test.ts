import { refuseBadWeights } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { f32, refusal, zeros } from './files.js';
import { bind, RULES, rename, slot, slots, tensors, type Tensors, without } from './models.js';

interface Case {
  readonly what: string;
  readonly stored: Tensors;
  readonly options?: Parameters<typeof bind>[1];
  readonly code: string;
  /** Parts of the message. */
  readonly says: readonly string[];
}

const all = tensors();
const quantised = (add: (name: string) => Tensors): Tensors => ({
  ...without(all, (name) => name.includes('_proj')),
  ...(Object.assign(
    {},
    ...Object.keys(all)
      .filter((name) => name.includes('_proj'))
      .map((name) => add(name.replace('.weight', ''))),
  ) as Tensors),
});
const i32 = zeros('I32', [2, 2], 16);

const CASES: readonly Case[] = [
  {
    what: 'one tensor dropped',
    stored: without(all, (name) => name === 'model.layers.1.q_proj.weight'),
    code: 'MISSING',
    says: ['10 of 11 weights of the model are there and fit', '1 missing: model.layers.1.q_proj.weight'],
  },
  {
    what: 'one tensor renamed',
    stored: rename(all, (name) => name.replace('layers.1.q_proj', 'layers.1.query')),
    code: 'MISSING',
    says: ['1 missing: model.layers.1.q_proj.weight', '1 unexpected: model.layers.1.query.weight'],
  },
  {
    what: 'one tensor of another shape',
    stored: { ...all, 'model.layers.2.q_proj.weight': f32([2, 4]) },
    code: 'SHAPE',
    says: ['1 misshaped: model.layers.2.q_proj.weight is [2, 4], not [4, 4]'],
  },
  {
    what: 'every layer of another shape, told once',
    stored: Object.fromEntries(
      Object.entries(all).map(([name, t]) => [name, name.includes('q_proj') ? f32([2, 4]) : t]),
    ),
    code: 'SHAPE',
    says: ['3 misshaped: model.layers.{0-2}.q_proj.weight is [2, 4], not [4, 4]'],
  },
  {
    what: 'another vocabulary',
    stored: { ...all, 'model.embed_tokens.weight': f32([9, 4]), 'lm_head.weight': f32([9, 4]) },
    code: 'SHAPE',
    says: ['the embedding has 9 rows, config.json says 8 (vocab_size)', '2 misshaped'],
  },
  {
    what: 'a longer prefix',
    stored: rename(all, (name) => (name.startsWith('model.') ? `language_model.${name}` : name)),
    code: 'MISSING',
    says: ['the tensor names begin with "language_model.", where none is expected', '10 missing', '10 unexpected'],
  },
  {
    what: 'another prefix',
    stored: rename(all, (name) => name.replace('model.', 'transformer.')),
    code: 'MISSING',
    says: ['the tensor names begin with "transformer.", where "model." is expected'],
  },
  {
    what: 'no prefix',
    stored: rename(all, (name) => name.replace('model.', '')),
    code: 'MISSING',
    says: ['the tensor names lack the prefix "model."'],
  },
  {
    what: 'more layers than the config says',
    stored: tensors(5),
    code: 'UNEXPECTED',
    says: ['the checkpoint has 5 layers, config.json says 3', '6 unexpected: model.layers.{3-4}.norm.weight'],
  },
  {
    what: 'fewer layers than the config says',
    stored: tensors(2),
    code: 'MISSING',
    says: ['the checkpoint has 2 layers, config.json says 3', '3 missing: model.layers.2.norm.weight'],
  },
  {
    what: 'a layer in the middle without any tensor',
    stored: without(all, (name) => name.includes('layers.1.')),
    code: 'MISSING',
    says: ['layer 1 has no tensor at all', '3 missing'],
  },
  {
    what: 'two layers at the start without any tensor',
    stored: without(all, (name) => /layers\.[01]\./.test(name)),
    code: 'MISSING',
    says: ['layers 0-1 have no tensor at all', 'model.layers.{0-1}.norm.weight'],
  },
  {
    what: 'one kind of weight absent everywhere',
    stored: without(all, (name) => name.endsWith('.norm.weight')),
    code: 'MISSING',
    says: [
      'no layer has mixer.norm.before.weight, which config.json asks for',
      '3 missing: model.layers.{0-2}.norm.weight',
    ],
  },
  {
    what: 'a bias that the config leaves out',
    stored: { ...all, ...Object.fromEntries([0, 1, 2].map((i) => [`model.layers.${i}.q_proj.bias`, f32([4])])) },
    code: 'UNEXPECTED',
    says: [
      'config.json leaves out layers.{layer}.mixer.q.bias, which the checkpoint has',
      '3 unexpected: model.layers.{0-2}.q_proj.bias',
    ],
  },
  {
    what: 'no head and not tied',
    stored: without(all, (name) => name.startsWith('lm_head')),
    code: 'MISSING',
    says: [
      'the model is not tied, but its checkpoint has no head',
      '"tie_word_embeddings": true',
      '1 missing: lm_head.weight',
    ],
  },
  {
    what: 'names of another family',
    stored: { 'h.0.x.weight': f32([1]), 'h.1.x.weight': f32([1]) },
    code: 'MISSING',
    says: ['no tensor has a name that this family knows', '11 missing', '2 unexpected: h.{0-1}.x.weight'],
  },
  {
    what: 'a tensor too many',
    stored: { ...all, 'extra.weight': f32([1]) },
    code: 'UNEXPECTED',
    says: ['every weight of the model is there, and more; 1 unexpected: extra.weight'],
  },
  {
    what: 'an adapter',
    stored: { 'base_model.model.layers.0.q_proj.lora_A.weight': f32([1]) },
    code: 'MISSING',
    says: ['the weights of a LoRA adapter'],
  },
  {
    what: 'a type that is not read',
    stored: { ...all, 'model.layers.0.q_proj.weight': zeros('F64', [4, 4], 128) },
    code: 'UNREADABLE',
    says: ['1 unreadable: model.layers.0.q_proj.weight (F64, ', 'model.safetensors)'],
  },
  ...(
    [
      ['AWQ or GPTQ', (name) => ({ [`${name}.qweight`]: i32, [`${name}.qzeros`]: i32, [`${name}.scales`]: f32([1]) })],
      ['GPTQ', (name) => ({ [`${name}.qweight`]: i32, [`${name}.g_idx`]: i32, [`${name}.scales`]: f32([1]) })],
      [
        'FP8 in blocks',
        (name) => ({ [`${name}.weight`]: zeros('F8_E4M3', [4, 4], 16), [`${name}.weight_scale_inv`]: f32([1]) }),
      ],
      ['FP8', (name) => ({ [`${name}.weight`]: zeros('F8_E4M3', [4, 4], 16) })],
      ['MXFP4', (name) => ({ [`${name}_blocks`]: zeros('U8', [4, 4], 16), [`${name}_scales`]: zeros('U8', [4], 4) })],
      [
        'bitsandbytes 4-bit',
        (name) => ({ [`${name}.weight`]: zeros('U8', [8, 1], 8), [`${name}.weight.absmax`]: f32([1]) }),
      ],
      ['bitsandbytes 8-bit', (name) => ({ [`${name}.weight`]: zeros('I8', [4, 4], 16), [`${name}.SCB`]: f32([4]) })],
      ['compressed-tensors', (name) => ({ [`${name}.weight_packed`]: i32, [`${name}.weight_scale`]: f32([1]) })],
      [
        'MLX',
        (name) => ({
          [`${name}.weight`]: zeros('U32', [4, 1], 16),
          [`${name}.scales`]: f32([1]),
          [`${name}.biases`]: f32([1]),
        }),
      ],
      [
        'compressed-tensors, FP8 or ternary weights',
        (name) => ({ [`${name}.weight`]: zeros('U8', [1, 4], 4), [`${name}.weight_scale`]: f32([1]) }),
      ],
    ] as [string, (name: string) => Tensors][]
  ).map(([scheme, add]): Case => ({
    what: `quantised: ${scheme}`,
    stored: quantised(add),
    code: Object.keys(add('x')).includes('x.weight') ? 'UNREADABLE' : 'MISSING',
    says: [`the checkpoint is quantised (${scheme}), which kvad does not read yet`],
  })),
];

describe('weights that do not fit are refused with what probably happened', () => {
  it.each(CASES)('$what', ({ stored, options, code, says }) => {
    const { audit, directory } = bind(stored, options);
    const error = refusal(() => refuseBadWeights(audit, { directory }));
    expect(error.code).toBe(`KVAD_E_WEIGHTS_${code}`);
    expect(error.message).toContain(directory);
    for (const part of says) expect(error.message).toContain(part);
    expect(error.message.split('\n')).toHaveLength(1);
    expect(error.hint).not.toBe('');
  });

  it('an unreadable tensor is not missing', () => {
    const { audit } = bind({ ...all, 'model.layers.0.q_proj.weight': zeros('F8_E4M3', [4, 4], 16) });
    expect(audit.missing).toEqual([]);
    expect(audit.unreadable).toMatchObject([{ tensor: 'model.layers.0.q_proj.weight', dtype: 'F8_E4M3' }]);
  });

  it('a large model is told in a short sentence', () => {
    const count = 200;
    const { audit, directory } = bind({ other: f32([1]) }, { slots: slots(count) });
    const { message } = refusal(() => refuseBadWeights(audit, { directory }));
    expect(audit.missing).toHaveLength(3 * count + 2);
    expect(message.length).toBeLessThan(700);
    expect(message).toContain('model.layers.{0-199}.q_proj.weight');
  });

  it('experts are collapsed too, and gaps are counted', () => {
    const rules = [
      ...RULES,
      ...[0].map(() => ({
        slot: 'layers.{layer}.ffn.up',
        sources: [
          { tensors: 'model.layers.{layer}.experts.{expert}.up', transform: [{ op: 'stack', count: 4 } as const] },
        ],
      })),
    ];
    const experts = [0, 1].map((layer) => slot('layers.{layer}.ffn.up', [4, 1], layer, 'stack'));
    const stored = { 'model.layers.0.experts.2.up': f32([1]) };
    const { audit, directory } = bind({ ...all, ...stored }, { slots: [...slots(), ...experts], rules });
    expect(refusal(() => refuseBadWeights(audit, { directory })).message).toContain(
      'model.layers.{0-1}.experts.{0-3}.up (7 of them)',
    );
  });
});
