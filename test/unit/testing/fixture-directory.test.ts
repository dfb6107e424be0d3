import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fixtureDirectory, readReference } from '@kvad/core/testing';
import { openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { folderOf, refusal } from '../checkpoint/files.js';

const RECIPE = JSON.stringify({ seed: 5, tensors: [['a', 'F32', [3], 0, 1, 'model.safetensors']] });

describe('a fixture folder', () => {
  it('is made from its recipe once, with everything else that it holds', () => {
    const folder = fixtureDirectory('dense-core/llama');
    expect(fixtureDirectory('dense-core/llama')).toBe(folder);
    expect(readFileSync(join(folder, 'config.json'))).toEqual(
      readFileSync('test/fixtures/dense-core/llama/config.json'),
    );
    const checkpoint = openCheckpoint(folder);
    expect(checkpoint.tensors.size).toBeGreaterThan(20);
    expect(checkpoint.warnings).toEqual([]);
    checkpoint.close();
    expect(readdirSync('test/fixtures/dense-core/llama')).not.toContain('model.safetensors');
  });

  it.each(['dense-core/gpt2_hub', 'dense-core/llama_2023', 'dense-core/qwen2_sharded'])(
    '%s holds its weights and is used where it lies',
    (name) => {
      const folder = fixtureDirectory(name);
      expect(folder.endsWith(join('test', 'fixtures', name))).toBe(true);
      openCheckpoint(folder).close();
    },
  );

  it('that is edited is made anew', () => {
    const source = folderOf({ 'config.json': '{}', 'weights.recipe.json': RECIPE });
    const first = fixtureDirectory(source);
    writeFileSync(join(source, 'config.json'), '{"a":1}');
    const second = fixtureDirectory(source);
    expect(second).not.toBe(first);
    expect(readFileSync(join(second, 'config.json'), 'utf8')).toBe('{"a":1}');
  });

  it('is made by one of several processes that ask at the same time', async () => {
    const recipe = JSON.stringify({ seed: 5, tensors: [['a', 'F32', [300_000], 0, 1, 'model.safetensors']] });
    const source = folderOf({ 'config.json': '{}', 'weights.recipe.json': recipe });
    const module = new URL('../../../core/dist/testing/fixture-directory.js', import.meta.url).href;
    const script = `import { fixtureDirectory } from ${JSON.stringify(module)}; process.stdout.write(fixtureDirectory(${JSON.stringify(source)}))`;
    const run = promisify(execFile);
    const results = await Promise.all(
      [1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '--eval', script])),
    );
    const [folder, ...others] = new Set(results.map(({ stdout }) => stdout));
    expect(others).toEqual([]);
    const made = folder!;
    expect(statSync(join(made, 'model.safetensors')).size).toBeGreaterThan(1_200_000);
    const left = readdirSync(dirname(made)).filter((name) => name.startsWith(`.new-${basename(made)}`));
    expect(left).toEqual([]);
  });

  it('that is none is refused', () => {
    const error = refusal(() => fixtureDirectory('dense-core/absent'));
    expect(error.code).toBe('KVAD_E_FIXTURE');
    expect(error.message).toContain('test/fixtures/dense-core/absent');
  });

  it('leaves nothing half made where its recipe is wrong', () => {
    const source = folderOf({
      'config.json': '{}',
      'weights.recipe.json': '{"seed":1,"tensors":[["a","F8",[1],0,1,"m"]]}',
    });
    expect(refusal(() => fixtureDirectory(source)).code).toBe('KVAD_E_FIXTURE');
    expect(refusal(() => fixtureDirectory(source)).code).toBe('KVAD_E_FIXTURE');
  });
});

describe('a reference', () => {
  it('holds ids, logits of every position, and how near they must be met', () => {
    const reference = readReference('test/fixtures/dense-core/llama');
    expect(reference.inputIds).toHaveLength(45);
    expect(reference.logits).toHaveLength(45 * 128);
    expect(reference.shortIds).toHaveLength(6);
    expect(reference.shortLogits).toHaveLength(6 * 128);
    expect(reference.greedyIds).toHaveLength(12);
    expect(reference.vocabSize).toBe(128);
    expect(reference.facts).toMatchObject({ model_type: 'llama', tolerance: 0.0002428, logits_std: 1.214 });
  });

  it('is there for every fixture', () => {
    const groups = ['dense-core', 'moe', 'mla', 'delta-net', 'breadth', 'newer', 'wrappers'];
    for (const group of groups) {
      for (const name of readdirSync(join('test/fixtures', group))) {
        const folder = join('test/fixtures', group, name);
        const { inputIds, facts, logits } = readReference(folder);
        expect([name, inputIds.length]).toEqual([name, expect.toSatisfy((n: number) => n === 45 || n === 150)]);
        expect(facts.tolerance).toBeGreaterThan(0);
        expect(logits.every(Number.isFinite)).toBe(true);
        expect(existsSync(join(folder, 'config.json'))).toBe(true);
      }
    }
  });

  it('that lacks a tensor is refused', () => {
    const folder = folderOf({
      'reference.safetensors': readFileSync(join(fixtureDirectory('dense-core/gpt2_hub'), 'model.safetensors')),
      'reference.json': '{}',
    });
    const error = refusal(() => readReference(folder));
    expect(error.code).toBe('KVAD_E_FIXTURE');
    expect(error.message).toContain('it has no tensor "input_ids"');
  });
});
