export { addPlugin, type AddedPlugin, type AddRequest } from './add.js';
export { createRegistry } from './create-registry.js';
export { AXES, PART_LISTS } from './part-lists.js';
export { removePlugin } from './remove.js';
export type * from './types.js';
