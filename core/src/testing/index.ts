/** `@kvad/core/testing`: how to prove that a family computes what its publisher computes. */
export * from './compare.js';
