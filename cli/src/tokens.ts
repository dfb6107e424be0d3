/** Injection tokens of the engine; those of the axes are `AXIS_TOKENS` of core. */

/** `EngineOptions`, complete. */
export const ENGINE_SETTINGS = Symbol.for('kvad.engine-settings');
/** `Engine` of this thread. */
export const ENGINE = Symbol.for('kvad.engine');
/** -> the threads of a model. */
export const START_THREADS = Symbol.for('kvad.start-threads');
/** -> `Registry` of the plugins that these settings find, the same at each call. */
export const OPEN_REGISTRY = Symbol.for('kvad.open-registry');
/** Plugins -> `PartRegistry`. */
export const MAKE_PARTS = Symbol.for('kvad.make-parts');
/** -> `Ops`. */
export const MAKE_OPS = Symbol.for('kvad.make-ops');
/** Folder -> `TextSide`. */
export const LOAD_TEXT = Symbol.for('kvad.load-text');
/** `ModelLoader`: a folder becomes a model of this thread. */
export const MODEL_LOADER = Symbol.for('kvad.model-loader');
