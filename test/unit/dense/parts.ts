import { PartRegistry } from '@kvad/core';
import type { Plugin } from '@kvad/core/plugin';
import { BUILTIN_PARTS } from '../../../core/dist/axes/builtin/index.js';

/** The parts of core and of one plugin. */
export const partsWith = (plugin: Plugin): PartRegistry => {
  const plugins = [BUILTIN_PARTS, plugin];
  return new PartRegistry(
    plugins.flatMap(({ mixers }) => mixers),
    plugins.flatMap(({ feedForwards }) => feedForwards),
    plugins.flatMap(({ routers }) => routers),
    plugins.flatMap(({ sharedExperts }) => sharedExperts),
    plugins.flatMap(({ blocks }) => blocks),
    plugins.flatMap(({ stacks }) => stacks),
    plugins.flatMap(({ inputs }) => inputs),
    plugins.flatMap(({ norms }) => norms),
    plugins.flatMap(({ activations }) => activations),
  );
};
