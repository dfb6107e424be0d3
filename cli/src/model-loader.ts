import { loadModel, type LoadOptions, type LoadPieces, type LocalModel } from '@kvad/core';
import type { Registry } from '@kvad/arch-registry';
import { inject, injectable } from 'tsyringe';
import { LOAD_TEXT, MAKE_OPS, MAKE_PARTS, OPEN_REGISTRY } from './tokens.js';

/** Loads a model folder into this thread. */
@injectable()
export class ModelLoader {
  readonly #openRegistry: () => Registry;
  readonly #pieces: Omit<LoadPieces, 'source'>;

  constructor(
    @inject(OPEN_REGISTRY) openRegistry: () => Registry,
    @inject(MAKE_PARTS) makeParts: LoadPieces['makeParts'],
    @inject(MAKE_OPS) makeOps: LoadPieces['makeOps'],
    @inject(LOAD_TEXT) loadText: LoadPieces['loadText'],
  ) {
    this.#openRegistry = openRegistry;
    this.#pieces = { makeParts, makeOps, loadText };
  }

  async load(directory: string, options: LoadOptions): Promise<LocalModel> {
    const source = this.#openRegistry();
    // Of what somebody named for this run; `kvad arch` tells of all.
    const warnings = source.broken
      .filter(({ origin }) => origin === 'flag' || origin === 'project')
      .map(({ name, because, reason }) => `plugin ${name} (${because}) is left out: ${reason}`);
    return loadModel(directory, options, { source, warnings, ...this.#pieces });
  }
}
