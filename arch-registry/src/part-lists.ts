import type { Plugin } from '@kvad/core';
import type { Axis } from '@kvad/core/plugin';

/** The lists of a plugin (and of its manifest) that hold parts, by axis. */
export const PART_LISTS = {
  mixer: 'mixers',
  ffn: 'feedForwards',
  router: 'routers',
  'shared-expert': 'sharedExperts',
  block: 'blocks',
  stack: 'stacks',
  input: 'inputs',
  norm: 'norms',
  activation: 'activations',
} as const satisfies Record<Axis, keyof Plugin>;

export const AXES = Object.keys(PART_LISTS) as readonly Axis[];
