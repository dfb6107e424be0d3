/** Configs and tensor names of published hybrids. */
import { readdirSync } from 'node:fs';
import {
  bindWeights,
  createReferenceOps,
  plannedStates,
  planSlots,
  type Checkpoint,
  type StoredTensor,
} from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { at, readJson } from '../../gates/sources.js';
import { modelTypes, parts, planOf, type Config } from './families.js';

const PACKED = { code: 'KVAD_E_CONFIG_QUANTIZED', key: 'modelopt', why: 'packed weights, a format that is not read' };

/** Published configs that are refused, each looked at. */
const REFUSED: Readonly<Record<string, { code: string; key: string; why: string }>> = {
  'nvidia--Qwen3.5-122B-A10B-NVFP4.json': PACKED,
  'nvidia--Qwen3.6-27B-NVFP4.json': PACKED,
  'nvidia--Qwen3.6-35B-A3B-NVFP4.json': PACKED,
};

const configs = readdirSync(at('test/fixtures/configs'))
  .filter((file) => file.endsWith('.json') && file !== 'index.json')
  .map((file) => ({ file, raw: readJson(`test/fixtures/configs/${file}`) as Config }))
  .filter(({ raw }) => modelTypes.includes(String(raw['model_type'])));
const rawOf = (file: string): Config => configs.find((config) => config.file === file)!.raw;

describe('published configs of hybrids', () => {
  it('are at hand', () => {
    expect(configs.length).toBeGreaterThanOrEqual(8);
  });

  it.each(configs.filter(({ file }) => !(file in REFUSED)))('$file is planned', ({ file, raw }) => {
    const { plan, audit } = planOf(raw, file);
    expect(audit.refused).toEqual([]);
    const kinds = plan.layers.map(({ ops }) => ops[0]!.kind);
    expect(kinds.map((kind, layer) => (kind === 'attention' ? layer : -1)).filter((layer) => layer >= 0)).toEqual(
      kinds.map((_, layer) => layer).filter((layer) => layer % 4 === 3),
    );
  });

  it.each(Object.entries(REFUSED))('%s is refused: $why', (file, { code, key }) => {
    expect(() => planOf(rawOf(file), file)).toThrow(expect.objectContaining({ code }));
    expect(() => planOf(rawOf(file), file)).toThrow(key);
  });

  it.each(Object.keys(REFUSED))('%s is planned without its packing', (file) => {
    const { quantization_config: _, ...raw } = rawOf(file);
    expect(planOf(raw, file).audit.refused).toEqual([]);
  });
});

/** Bytes that a sequence holds whatever its length, and f32 bytes that each token adds; worked out by hand. */
const STATE: Readonly<Record<string, { fixed: number; perToken: number }>> = {
  'Qwen--Qwen3-Next-80B-A3B-Instruct.json': {
    fixed: 36 * (8192 * 3 + 32 * 128 * 128) * 4,
    perToken: 12 * 2 * 2 * 256 * 4,
  },
  'Qwen--Qwen3.5-0.8B.json': { fixed: 18 * (6144 * 3 + 16 * 128 * 128) * 4, perToken: 6 * 2 * 2 * 256 * 4 },
};

describe('the memory of published hybrids', () => {
  it.each(Object.entries(STATE))('%s: is known without its weights', (file, expected) => {
    const { plan } = planOf(rawOf(file), file);
    const ops = createReferenceOps({ kvCacheDtype: 'f32' });
    const states = plannedStates(plan, planSlots(plan, parts), parts, ops);
    const bytes = (growing: boolean): number =>
      states
        .map(({ spec }) => spec)
        .filter(({ kind }) => (kind === 'kv') === growing)
        .reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 4), 0);
    expect({ fixed: bytes(false), perToken: bytes(true) }).toEqual(expected);
    ops.dispose();
  });
});

interface NamePattern {
  readonly name: string;
  /** `0-2,4-6` */
  readonly layers?: string;
  readonly experts?: string;
  readonly count: number;
  readonly shape: readonly number[];
}

const maps = readdirSync(at('test/fixtures/weight-maps'))
  .filter((file) => file.endsWith('.json') && file !== 'index.json')
  .map((file) => ({ file, ...(readJson(`test/fixtures/weight-maps/${file}`) as { model_type: string }) }))
  .filter((map) => modelTypes.includes(map.model_type)) as unknown as readonly {
  readonly file: string;
  readonly model_type: string;
  readonly total: number;
  readonly tensors: readonly NamePattern[];
}[];

/** A published config of the same model, or of one of the same shape. */
const CONFIGS: Readonly<Record<string, string>> = { 'Qwen--Qwen3.5-0.8B-Base.json': 'Qwen--Qwen3.5-0.8B.json' };

const numbersOf = (ranges: string): number[] =>
  ranges.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i);
  });

/** Names and shapes alone: there is nothing to read. */
const checkpointOf = (patterns: readonly NamePattern[]): Checkpoint => ({
  directory: 'names',
  files: [],
  warnings: [],
  tensors: new Map(patterns.flatMap(tensorsOf).map((tensor) => [tensor.name, tensor])),
  read: () => {
    throw new Error('there are only names');
  },
  close: () => undefined,
});

/** Every tensor that a pattern stands for. */
const tensorsOf = ({ name, layers, experts, shape }: NamePattern): StoredTensor[] =>
  (layers === undefined ? [''] : numbersOf(layers)).flatMap((layer) =>
    (experts === undefined ? [''] : numbersOf(experts)).map((expert) => ({
      name: name.replace('{L}', String(layer)).replace('{E}', String(expert)),
      dtype: 'BF16',
      shape,
      file: 'names',
      offset: 0,
      byteLength: shape.reduce((product, size) => product * size, 2),
    })),
  );

describe('tensors of published hybrids', () => {
  it.each(maps)(
    '$file: each fits its slot or is declared unneeded, and none is missing',
    ({ file, total, tensors }) => {
      const checkpoint = checkpointOf(tensors);
      expect(checkpoint.tensors.size).toBe(total);
      const { plan, rules } = planOf(rawOf(CONFIGS[file] ?? file), file);
      const { audit } = bindWeights({ slots: planSlots(plan, parts), rules, tied: plan.head.tied, checkpoint });
      const { missing, unexpected, misshaped, unreadable } = audit;
      expect({ missing, unexpected, misshaped, unreadable }).toEqual({
        missing: [],
        unexpected: [],
        misshaped: [],
        unreadable: [],
      });
    },
  );
});
