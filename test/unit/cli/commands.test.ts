import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEngine } from 'kvad';
import type { CliInfo } from '@kvad/schemas';
import { compareLogits, fixtureDirectory, readReference, readTensors } from '@kvad/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../cli/dist/commands/main.js';
import { openRegistry } from '../../../cli/dist/commands/open-registry.js';
import { kindsOfAxis, planDefaults, planFile } from '../../../cli/dist/commands/planned-model.js';
import { fakeIo, type FakeIo } from './fake-io.js';

const folder = mkdtempSync(path.join(tmpdir(), 'kvad-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kvad = async (...words: string[]): Promise<FakeIo & { exit: number }> => {
  const io = fakeIo({ cwd: folder });
  return Object.assign(io, { exit: await runCommandLine(words, io) });
};

describe('kvad logits', () => {
  const fixture = fixtureDirectory('dense-core/llama');
  const reference = readReference(fixture);
  const ids = [...reference.inputIds];

  it.each([['512'], ['7']])('writes the logits of the reference, in chunks of %s', async (size) => {
    writeFileSync(path.join(folder, 'ids.json'), JSON.stringify(ids));
    const { exit, out, err } = await kvad(
      'logits',
      fixture,
      '--tokens',
      'ids.json',
      '--out',
      'l.safetensors',
      '--batch-size',
      size,
    );
    expect({ exit, out: out() }).toEqual({ exit: 0, out: '' });
    expect(err()).toMatch(/^wrote 45 x 128 logits to l\.safetensors in /);

    const tensors = readTensors(path.join(folder, 'l.safetensors'));
    expect(tensors.get('input_ids')).toMatchObject({ dtype: 'I64', shape: [ids.length] });
    const { dtype, shape, bytes } = tensors.get('logits')!;
    expect({ dtype, shape }).toEqual({ dtype: 'F32', shape: [ids.length, reference.vocabSize] });
    const logits = new Float32Array(bytes.slice().buffer);
    expect(compareLogits(logits, reference.logits, reference.vocabSize).maxAbsDiff).toBeLessThanOrEqual(
      reference.facts.tolerance,
    );
  });

  it('leaves no file behind where an id is refused', async () => {
    writeFileSync(path.join(folder, 'beyond.json'), '[1, 128]');
    const { exit, err } = await kvad('logits', fixture, '--tokens', 'beyond.json', '--out', 'no.safetensors');
    expect(exit).toBe(1);
    expect(err()).toContain('KVAD_E_TOKEN_ID');
    expect(readdirSync(folder).filter((name) => name.includes('no.safetensors'))).toEqual([]);
  });

  it('does not write over the model', async () => {
    writeFileSync(path.join(folder, 'ids.json'), '[1, 2]');
    const own = path.join(fixture, 'config.json');
    const before = readFileSync(own, 'utf8');
    const { exit, err } = await kvad('logits', fixture, '--tokens', 'ids.json', '--out', own);
    expect({ exit, message: err() }).toMatchObject({ exit: 2, message: expect.stringContaining('file of the model') });
    expect(readFileSync(own, 'utf8')).toBe(before);
  });
});

it('a plugin that was named and is left out is a warning of every run', async () => {
  writeFileSync(path.join(folder, 'ids.json'), '[1, 2]');
  mkdirSync(path.join(folder, 'garbage'));
  writeFileSync(path.join(folder, 'garbage', 'package.json'), 'garbage');
  const { exit, err } = await kvad(
    ...[
      'logits',
      fixtureDirectory('dense-core/llama'),
      '--tokens',
      'ids.json',
      '--out',
      'out.safetensors',
      '--plugin',
      './garbage',
    ],
  );
  expect(exit).toBe(0);
  expect(err()).toMatch(/^warning: plugin garbage \(--plugin \.\/garbage\) is left out: .*cannot be read as JSON/);
});

describe('kvad info', () => {
  it.each([['dense-core/llama_tied'], ['dense-core/gpt2'], ['dense-core/qwen2_sharded']])(
    'of %s says what the loaded model says, without reading a weight',
    async (name) => {
      const fixture = fixtureDirectory(name);
      const { exit, out } = await kvad('info', fixture, '--json');
      const info = JSON.parse(out()) as CliInfo;
      await using engine = createEngine();
      const { facts } = await engine.load(fixture);
      expect(exit).toBe(0);
      expect(info.parameters).toEqual({ total: facts.parameters, active: facts.parameters });
      expect(info.state.bytes_per_token).toBe(facts.stateBytesPerToken);
      expect(info.memory.f32).toBe(facts.parameters * 4);
      expect(info.stored.bytes).toBe(
        readdirSync(fixture)
          .filter((file) => /^model.*\.safetensors$/.test(file))
          .reduce((sum, file) => sum + dataBytes(path.join(fixture, file)), 0),
      );
    },
  );
});

/** What follows the header. */
const dataBytes = (file: string): number => {
  const bytes = readFileSync(file);
  return bytes.length - 8 - Number(bytes.readBigUInt64LE(0));
};

describe('kinds that kvad arch lists', () => {
  const registry = openRegistry(fakeIo(), []);
  const fixtures = readdirSync(path.resolve(import.meta.dirname, '../../fixtures/dense-core'));

  it.each(fixtures.map((name) => [name]))('are those of the plan of %s', async (name) => {
    const file = path.resolve(import.meta.dirname, '../../fixtures/dense-core', name, 'config.json');
    const real = await planFile(registry, file, { lenient: false });
    const listed = planDefaults(real.resolved)!;
    for (const axis of ['mixer', 'ffn'] as const) expect(kindsOfAxis(listed, axis)).toEqual(kindsOfAxis(real, axis));
  });

  it('are known of every bundled family: its schema has a default for each key, or an example', async () => {
    const { out } = await kvad('arch', '--json');
    const { families } = JSON.parse(out()) as { families: { model_type: string; mixers: string[] | null }[] };
    expect(families.filter(({ mixers }) => mixers === null || mixers.length === 0)).toEqual([]);
  });
});

describe('kvad run', () => {
  it('without what it needs loads nothing', async () => {
    const { exit, err, out } = await kvad('run');
    expect({ exit, out: out() }).toEqual({ exit: 2, out: '' });
    expect(err()).toContain('a prompt is needed');
  });

  it('tells of keys that --lenient let through, on stderr and in the JSON', async () => {
    const fixture = fixtureDirectory('dense-core/llama');
    const config = JSON.parse(readFileSync(path.join(fixture, 'config.json'), 'utf8')) as object;
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ ...config, partial_rotary_factor: 0.5 }));
    for (const name of readdirSync(fixture).filter((file) => /^model.*safetensors/.test(file))) {
      writeFileSync(path.join(folder, name), readFileSync(path.join(fixture, name)));
    }
    writeFileSync(path.join(folder, 'one.json'), '[1]');
    const refused = await kvad('logits', '.', '--tokens', 'one.json', '--out', 'x.safetensors');
    expect(refused.exit).toBe(1);
    expect(refused.err()).toContain('partial_rotary_factor');

    const lenient = await kvad('logits', '.', '--tokens', 'one.json', '--out', 'x.safetensors', '--lenient', '--json');
    expect(lenient.exit).toBe(0);
    expect(lenient.err()).toMatch(/^warning: .*partial_rotary_factor/);
    expect((JSON.parse(lenient.out()) as { warnings: string[] }).warnings).toContainEqual(
      expect.stringContaining('partial_rotary_factor'),
    );
  });
});
