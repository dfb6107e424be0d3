/** `@kvad/core/testing`: how to prove that a family computes what its publisher computes. */
export * from './compare.js';
export * from './fixture-directory.js';
export * from './idle-keys.js';
export * from './plugin-under-test.js';
export * from './recipe.js';
export * from './reference.js';
export * from './safetensors-read.js';
export * from './safetensors-write.js';
export * from './test-family.js';
export * from './test-model.js';
export * from './verify.js';
