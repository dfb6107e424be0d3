import { describe, expect, it } from 'vitest';
import { familyNamesIn } from './family-names.js';
import { read, registeredModelTypes, sourcesOf } from './sources.js';

const modelTypes = registeredModelTypes();

describe('family names', () => {
  it('are in no string of core, arch-registry and cli', () => {
    const files = sourcesOf('core', 'arch-registry', 'cli');
    expect(files.length).toBeGreaterThan(20);
    expect(files.flatMap((file) => familyNamesIn(file, read(file), modelTypes))).toEqual([]);
  });

  it('are read from the manifests of the plugins', () => {
    expect(modelTypes).toEqual(expect.arrayContaining(['gpt2', 'llama', 'mistral', 'qwen2', 'qwen3']));
  });
});

describe('the gate itself', () => {
  const caught = (code: string): string[] =>
    familyNamesIn('planted.ts', code, [...modelTypes, 'ctrl', 'deepseek_v3']).map(({ name }) => name);

  it.each([
    ['a comparison', `if (config.model_type === 'qwen3') offset = 1;`, 'qwen3'],
    ['another quote', 'const x = `llama`;', 'llama'],
    ['another case', `const x = "Mistral";`, 'mistral'],
    ['a case label', `switch (t) { case 'gpt2': break; }`, 'gpt2'],
    ['a match by prefix', `if (type.startsWith('qwen')) {}`, 'qwen'],
    ['a table', 'const offsets = { llama: 0 };', 'llama'],
    ['a quoted table', `const offsets = { 'qwen2': 0 };`, 'qwen2'],
    ['a piece of a template', 'const x = `${a} like qwen3 ${b}`;', 'qwen3'],
    ['a word of a message', `throw new Error('only llama is supported');`, 'llama'],
    ['a class name', `if (architectures[0] === 'Qwen2ForCausalLM') {}`, 'qwen2'],
    ['a class name with underscores gone', `const x = 'DeepseekV3ForCausalLM';`, 'deepseek_v3'],
    ['a type', `type Known = 'llama' | 'other';`, 'llama'],
    ['an ordinary word that stands alone', `if (type === 'ctrl') {}`, 'ctrl'],
  ])('catches %s', (_, code, name) => {
    expect(caught(code)).toEqual([name]);
  });

  it.each([
    ['the rope type', `if (type === 'llama3') {}`],
    ['the other engine', `const about = 'as llama.cpp computes it';`],
    ['its programs', `const about = 'the same as llama-perplexity --kl-divergence';`],
    ['a comment', '// as in llama\n/** qwen3 does this */ const x = 1;'],
    ['a variable', 'const llama = 1;'],
    ['a word that contains one', `const x = 'llamas_are_animals';`],
    ['an ordinary word within a text', `const hint = 'press Ctrl-C to stop';`],
  ])('lets through %s', (_, code) => {
    expect(caught(code)).toEqual([]);
  });
});
