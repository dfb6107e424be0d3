/** P19: "tensor not found" names the symptom. The refusal names what happened, on real families and their files. */
import { describe, expect, it } from 'vitest';
import { changed, type Config, outcome, type Tensors } from './checkpoints.js';

const map = (tensors: Tensors, name: (name: string) => string): Tensors =>
  Object.fromEntries(Object.entries(tensors).map(([key, tensor]) => [name(key), tensor]));

const UP = 'model.layers.1.mlp.up_proj.weight';

interface Case {
  readonly what: string;
  readonly fixture?: string;
  readonly config?: (config: Config) => Config;
  readonly tensors?: (tensors: Tensors) => Tensors;
  readonly code: string;
  readonly says: readonly string[];
}

const CASES: readonly Case[] = [
  {
    what: 'a tensor dropped',
    tensors: ({ [UP]: _, ...rest }) => rest,
    code: 'MISSING',
    says: ['weights of the model are there and fit', `1 missing: ${UP}`],
  },
  {
    what: 'a tensor renamed',
    tensors: (tensors) => map(tensors, (name) => (name === UP ? 'model.layers.1.mlp.upper.weight' : name)),
    code: 'MISSING',
    says: [`1 missing: ${UP}`, '1 unexpected: model.layers.1.mlp.upper.weight'],
  },
  {
    what: 'a tensor of the same size and another shape',
    tensors: (tensors) => ({ ...tensors, [UP]: { ...tensors[UP]!, shape: [...tensors[UP]!.shape].reverse() } }),
    code: 'SHAPE',
    says: [`1 misshaped: ${UP} is [64, 96], not [96, 64]`],
  },
  {
    what: 'another prefix',
    tensors: (tensors) => map(tensors, (name) => name.replace('model.', 'language_model.model.')),
    code: 'MISSING',
    says: ['the tensor names begin with "language_model.'],
  },
  {
    what: 'a config with more layers',
    config: (config) => ({ ...config, num_hidden_layers: 5 }),
    code: 'MISSING',
    says: ['the checkpoint has 3 layers, config.json says 5', 'model.layers.{3-4}.self_attn.q_proj.weight'],
  },
  {
    what: 'a config with fewer layers',
    config: (config) => ({ ...config, num_hidden_layers: 2 }),
    code: 'UNEXPECTED',
    says: ['the checkpoint has 3 layers, config.json says 2'],
  },
  {
    what: 'a config with another vocabulary',
    config: (config) => ({ ...config, vocab_size: 130 }),
    code: 'SHAPE',
    says: ['the embedding has 128 rows, config.json says 130 (vocab_size)'],
  },
  {
    what: 'a config without the biases that are stored',
    fixture: 'dense-core/llama_tied',
    config: (config) => ({ ...config, attention_bias: false }),
    code: 'UNEXPECTED',
    says: ['config.json leaves out', 'self_attn.q_proj.bias'],
  },
  {
    what: 'a config with biases that are not stored',
    config: (config) => ({ ...config, mlp_bias: true }),
    code: 'MISSING',
    says: ['no layer has ffn.gate.bias, ffn.up.bias, ffn.down.bias, which config.json asks for'],
  },
  {
    what: 'other key heads than the fused projection of the file has',
    fixture: 'dense-core/gpt2',
    config: (config) => ({ ...config, n_embd: 32 }),
    code: 'SHAPE',
    says: ['misshaped'],
  },
];

describe('weights that do not fit their config are refused with what happened', () => {
  it.each(CASES)('$what', async ({ fixture = 'dense-core/llama', config, tensors, code, says }) => {
    const directory = changed(fixture, { ...(config && { config }), ...(tensors && { tensors }) });
    const result = await outcome(directory);
    expect(result?.code).toBe(`KVAD_E_WEIGHTS_${code}`);
    for (const part of says) expect(result?.message).toContain(part);
  });
});
