import { loadModel, type LoadOptions, type LoadPieces, type LocalModel } from '@kvad/core';
import type { Registry } from '@kvad/arch-registry';
import { inject, injectable } from 'tsyringe';
import { LOAD_TEXT, MAKE_OPS, MAKE_PARTS, REGISTRY } from './tokens.js';

/** Loads a model folder into this thread. */
@injectable()
export class ModelLoader {
  readonly #pieces: LoadPieces;

  constructor(
    @inject(REGISTRY) source: Registry,
    @inject(MAKE_PARTS) makeParts: LoadPieces['makeParts'],
    @inject(MAKE_OPS) makeOps: LoadPieces['makeOps'],
    @inject(LOAD_TEXT) loadText: LoadPieces['loadText'],
  ) {
    this.#pieces = { source, makeParts, makeOps, loadText };
  }

  load(directory: string, options: LoadOptions): Promise<LocalModel> {
    return loadModel(directory, options, this.#pieces);
  }
}
