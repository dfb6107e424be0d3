/** `@kvad/core/testing`: how to prove that a family computes what its publisher computes. */
export * from './compare.js';
export * from './idle-keys.js';
export * from './verify.js';
