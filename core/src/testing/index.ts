/** `@kvad/core/testing`: how to prove that a family computes what its publisher computes. */
export * from './compare.js';
export { checkConsistency, type Consistency, type ConsistentModel } from './consistency.js';
export { fixtureDirectory } from './fixture-directory.js';
export * from './idle-keys.js';
export * from './plan-weights.js';
export * from './plugin-under-test.js';
export * from './prompt-ids.js';
export * from './recipe.js';
export * from './reference.js';
export * from './safetensors-read.js';
export * from './safetensors-write.js';
export * from './test-family.js';
export * from './test-model.js';
export * from './verify.js';
