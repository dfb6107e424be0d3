export type * from './checkpoint/checkpoint.js';
export * from './axes/tokens.js';
export { CATALOG, type ErrorCode, type ErrorParams } from './errors/catalog.js';
export * from './errors/kvad-error.js';
export type * from './plan/audit.js';
export type * from './plan/planned-slot.js';
export type * from './runtime/types.js';
export type * from './text/types.js';
export * from './plugin.js';
