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
    return JSON.parse(readFileSync(this.at(name), 'utf8')) as ExpectedFile;
  }

  at(name: string): string {
    return path.resolve(this.dir, name);
  }

  text(name: string): string {
    return readFileSync(this.at(name), 'utf8');
  }

  /** f32 weights and cache: what expected values are made of. */
  async load(weights: string, tokenizer?: string): Promise<LoadedModel> {
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
