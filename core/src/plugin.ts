/** The surface that plugins import: small, versioned, with no engine in it. */
export * from './axes/context.js';
export * from './axes/parts.js';
export * from './axes/state.js';
export type * from './kernels/ops.js';
export type * from './kernels/tensor.js';
export * from './plan/activation-names.js';
export * from './plan/attention-words.js';
export * from './plan/blocks.js';
export * from './plan/config-dims.js';
export * from './plan/config-refusal.js';
export * from './plan/decoder.js';
export * from './plan/family.js';
export * from './plan/plugin.js';
export * from './plan/weight-names.js';
export * from './plan/weight-rules.js';
export type * from '@kvad/schemas';
