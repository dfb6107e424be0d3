export { createRegistry } from './create-registry.js';
export { resolveCoreToHost } from './host-core.js';
export type * from './types.js';
