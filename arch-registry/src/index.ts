export { createRegistry } from './create-registry.js';
export type * from './types.js';
