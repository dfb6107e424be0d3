/** A small family for tests of the config side: what it reads and declares is up to each test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { planModel, type PlannedModel } from '@kvad/core';
import {
  decoder,
  defineFamily,
  rms,
  single,
  type FamilyConfig,
  type PlanDraft,
  type WeightRule,
} from '@kvad/core/plugin';

export type Config = Readonly<Record<string, unknown>>;

export interface Sketch {
  /** Properties of the schema, besides the sizes. */
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly inert?: FamilyConfig['inert'];
  readonly nested?: FamilyConfig['nested'];
  /** Called with the config while the plan is made. */
  readonly read?: (config: never) => unknown;
  readonly weights?: (config: never) => readonly WeightRule[];
  readonly change?: (draft: PlanDraft) => unknown;
}

const SIZES = { vocab_size: 100, hidden_size: 64, num_hidden_layers: 2, max_position_embeddings: 256 };

export class MadeFamily {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'kvad-config-'));

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** `planModel` on these keys and the sizes. */
  plan(sketch: Sketch, keys: unknown, options: { lenient?: boolean } = {}): PlannedModel {
    const raw = isConfig(keys) && keys['text_config'] === undefined ? { ...SIZES, model_type: 'made', ...keys } : keys;
    return this.planRaw(sketch, raw, options);
  }

  planRaw(sketch: Sketch, raw: unknown, options: { lenient?: boolean } = {}): PlannedModel {
    const sizes = Object.fromEntries(Object.keys(SIZES).map((key) => [key, { type: 'integer', minimum: 1 }]));
    const properties = { ...sizes, ...sketch.properties };
    const required = sketch.required ?? Object.keys(SIZES);
    const schema = { $id: 'https://example.org/made.schema.json', type: 'object', properties, required };
    writeFileSync(path.join(this.#folder, 'made.schema.json'), JSON.stringify(schema));
    return planModel({
      family: familyOf(sketch),
      modelType: 'made',
      raw,
      file: '/models/made/config.json',
      schemas: this.#folder,
      plugin: 'kvad-arch-made',
      ...options,
    });
  }
}

const isConfig = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const familyOf = ({ read, weights, change, inert = {}, nested }: Sketch): ReturnType<typeof defineFamily<never>> =>
  defineFamily<never>({
    modelTypes: ['made'],
    about: 'a test',
    reference: 'none',
    config: { schema: 'made.schema.json', inert, ...(nested && { nested }) },
    plan: (config: typeof SIZES) => {
      read?.(config as never);
      const draft = decoder({
        vocabSize: config.vocab_size,
        hiddenSize: config.hidden_size,
        layerCount: config.num_hidden_layers,
        contextLength: config.max_position_embeddings,
        layer: () => single(rms(1e-6), 'mixer', { kind: 'made-mixer' }),
        finalNorm: rms(1e-6),
        head: { tied: true },
      });
      return (change?.(draft) ?? draft) as PlanDraft;
    },
    weights: (config) => weights?.(config) ?? [],
  });
