import { PLUGIN_API_VERSION, definePlugin, type Plugin } from '../../plan/plugin.js';
import { ACTIVATION_PARTS } from './activations.js';
import { NORMS } from './norms.js';
import { BLOCKS } from './residual-block.js';
import { STACKS } from './sequential-stack.js';

/** The parts that are not a matter of families: plain norms, activations, the default block and stack. */
export const BUILTIN_PARTS: Plugin = definePlugin({
  name: '@kvad/core',
  apiVersion: PLUGIN_API_VERSION,
  norms: NORMS,
  activations: ACTIVATION_PARTS,
  blocks: BLOCKS,
  stacks: STACKS,
});
