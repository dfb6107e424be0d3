export { createRegistry } from './create-registry.js';
export { AXES, PART_LISTS } from './part-lists.js';
export type * from './types.js';
