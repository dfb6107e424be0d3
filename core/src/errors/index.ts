/** `@kvad/core/errors`: errors alone, for programs that must start quickly. */
export { CATALOG, type ErrorCode, type ErrorParams } from './catalog.js';
export * from './kvad-error.js';
export { sayErrorsAs } from './last-words.js';
