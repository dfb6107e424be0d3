/** Checkpoints rewritten into the other layouts that published files have give the very same logits. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readTensors, writeSafetensors, type TensorBytes } from '@kvad/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { openFixture, openModel } from './families.js';

type Tensors = Readonly<Record<string, TensorBytes>>;
type Rewrite = (tensors: Tensors) => Tensors;

/** One after the other, along the first axis. */
const joined = (parts: readonly TensorBytes[]): TensorBytes => ({
  dtype: parts[0]!.dtype,
  shape: [parts.reduce((sum, { shape }) => sum + shape[0]!, 0), ...parts[0]!.shape.slice(1)],
  bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
});

/** Side by side, with a new first axis. */
const stacked = (parts: readonly TensorBytes[]): TensorBytes => ({
  ...parts[0]!,
  shape: [parts.length, ...parts[0]!.shape],
  bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
});

const rowsOf = ({ dtype, shape, bytes }: TensorBytes, start: number, count: number): TensorBytes => {
  const rowBytes = bytes.length / shape[0]!;
  return {
    dtype,
    shape: [count, ...shape.slice(1)],
    bytes: bytes.subarray(start * rowBytes, (start + count) * rowBytes),
  };
};

const renamed = (tensors: Tensors, rename: (name: string) => string): Tensors =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [rename(name), tensor]));

/** The tensors without those that match, and for each module that had some of them what `replace` makes of it. */
const replaced = (tensors: Tensors, pattern: RegExp, replace: (module: string) => Tensors): Tensors => {
  const entries = Object.entries(tensors);
  const modules = entries.flatMap(([name]) => pattern.exec(name)?.[1] ?? []);
  const others = Object.fromEntries(entries.filter(([name]) => !pattern.test(name)));
  return Object.assign(others, ...[...new Set(modules)].map(replace)) as Tensors;
};

/** Experts each for itself become two tensors a layer: gate above up, and down. */
const stackExperts: Rewrite = (tensors) =>
  replaced(tensors, /^(.*\.mlp\.experts\.)\d+\./, (module) => {
    const all = (matrix: string): TensorBytes[] =>
      Array.from({ length: 8 }, (_, expert) => tensors[`${module}${expert}.${matrix}.weight`]!);
    const up = all('up_proj');
    return {
      [`${module}gate_up_proj`]: stacked(all('gate_proj').map((gate, expert) => joined([gate, up[expert]!]))),
      [`${module}down_proj`]: stacked(all('down_proj')),
    };
  });

const CONVOLUTIONS = /^(.*\.linear_attn\.)[qkv]_conv1d\.weight$/;
const convolutions = (tensors: Tensors, module: string): TensorBytes =>
  joined(['q', 'k', 'v'].map((part) => tensors[`${module}${part}_conv1d.weight`]!));

/** One convolution over all, and norms as most families name them. */
const joinConvolutions: Rewrite = (tensors) => {
  const whole = replaced(tensors, CONVOLUTIONS, (module) => ({
    [`${module}conv1d.weight`]: convolutions(tensors, module),
  }));
  return renamed(whole, (name) =>
    name
      .replace('attention_layer_norm', 'input_layernorm')
      .replace('feedforward_layer_norm', 'post_attention_layernorm'),
  );
};

/** Each convolution as wide as what it runs over; the layer with attention names its norms otherwise. */
const separateConvolutions: Rewrite = (tensors) => {
  const cut = replaced(tensors, CONVOLUTIONS, (module) => {
    const all = convolutions(tensors, module);
    return {
      [`${module}q_conv1d.weight`]: rowsOf(all, 0, 32),
      [`${module}k_conv1d.weight`]: rowsOf(all, 32, 32),
      [`${module}v_conv1d.weight`]: rowsOf(all, 64, 64),
    };
  });
  return renamed(cut, (name) => name.replace('layers.3.feedforward_layer_norm', 'layers.3.post_attention_layernorm'));
};

const withPrefix =
  (prefix: string): Rewrite =>
  (tensors) =>
    renamed(tensors, (name) => name.replace(/^model\./, prefix));

const CASES: readonly [what: string, fixture: string, rewrite: Rewrite][] = [
  ['qwen3_next with all experts of a layer in two tensors', 'delta-net/qwen3_next', stackExperts],
  ['qwen3_5_moe with all experts of a layer in two tensors', 'wrappers/qwen3_5_moe', stackExperts],
  ['a text model taken out of its wrapper', 'delta-net/qwen3_5_text', withPrefix('model.language_model.')],
  ['a text model without a prefix', 'delta-net/qwen3_5_moe_text', withPrefix('')],
  ['olmo_hybrid with one convolution', 'delta-net/olmo_hybrid', joinConvolutions],
  ['olmo_hybrid with three convolutions of different widths', 'delta-net/olmo_hybrid', separateConvolutions],
];

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const written = (directory: string, rewrite: Rewrite): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-layout-'));
  folders.push(folder);
  copyFileSync(path.join(directory, 'config.json'), path.join(folder, 'config.json'));
  const tensors = Object.fromEntries(readTensors(path.join(directory, 'model.safetensors')));
  const other = rewrite(tensors);
  expect(Object.keys(other)).not.toEqual(Object.keys(tensors));
  writeSafetensors(path.join(folder, 'model.safetensors'), other);
  return folder;
};

describe('the other layouts of published files', () => {
  it.each(CASES)('%s', async (_, fixture, rewrite) => {
    const { model, directory } = openFixture(fixture);
    const other = openModel(written(directory, rewrite));
    const ids = Array.from({ length: 40 }, (_, i) => (7 * i + 3) % 128);
    const [expected, got] = await Promise.all(
      [model, other].map(async (one) => (await one.session()).prefill(ids, { logits: 'all' })),
    );
    expect(got).toEqual(expected);
    await Promise.all([model.close(), other.close()]);
  });
});
