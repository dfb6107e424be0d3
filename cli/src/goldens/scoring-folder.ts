import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine, LoadedModel } from '@kvad/core';

/** The parts of an `expected-*.json` that every kind has. Paths are relative to the folder. */
export interface ExpectedFile {
  readonly kind: string;
  readonly weights: string;
  readonly weights_sha256: string;
  readonly text: string;
  /** A tokenizer whose files take the place of the model's. */
  readonly tokenizer?: string;
}

/** Throws an error that is a sentence. */
export const readExpected = (file: string): ExpectedFile => {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
  if (isExpected(content)) return content;
  throw new Error(`${file} holds no expected values of scoring: it names no weights and no text`);
};

const isExpected = (content: unknown): content is ExpectedFile =>
  typeof content === 'object' &&
  content !== null &&
  ['kind', 'weights', 'text'].every((key) => typeof (content as Record<string, unknown>)[key] === 'string');

/** A folder in the format of scoring goldens, the models that it names, and a place for what a run writes. */
export class ScoringFolder {
  readonly dir: string;
  readonly scratch = mkdtempSync(path.join(tmpdir(), 'kvad-goldens-'));
  readonly #engine: Engine;

  constructor(dir: string, engine: Engine) {
    this.dir = dir;
    this.#engine = engine;
  }

  /** Names of the files with expected values, in their order. */
  get expected(): string[] {
    return readdirSync(this.dir)
      .filter((name) => /^expected-.*\.json$/.test(name))
      .sort();
  }

  read(name: string): ExpectedFile {
    return readExpected(this.at(name));
  }

  at(name: string): string {
    return path.resolve(this.dir, name);
  }

  /** f32 weights and cache: what expected values are made of. */
  async load(weights: string, tokenizer: string | undefined): Promise<LoadedModel> {
    let folder = this.at(weights);
    if (tokenizer !== undefined) {
      const joined = path.join(this.scratch, `${path.basename(folder)}-${path.basename(tokenizer)}`);
      cpSync(folder, joined, { recursive: true });
      cpSync(this.at(tokenizer), joined, { recursive: true, force: true });
      folder = joined;
    }
    return this.#engine.load(folder, { quant: 'f32', kvCacheDtype: 'f32' });
  }

  /** SHA-256 of the weights as they are stored. */
  weightsHash(weights: string): string {
    const file = path.join(this.at(weights), 'model.safetensors');
    return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'absent';
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
