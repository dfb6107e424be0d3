import { definePart } from '../../plan/plugin.js';
import type { Part, PartContext, Stack } from '../parts.js';
import { NO_OPTIONS, type NoOptions } from './no-options.js';

/** The default stack: the embedding [rows, hidden] is the residual stream, and what the last layer leaves is the result. */
const sequential: Part<Stack, NoOptions> = definePart({
  kind: 'sequential',
  about: 'one residual stream through the visits of the schedule',
  options: NO_OPTIONS,
  slots: () => [],
  create: (_options: NoOptions, { dims }: PartContext): Stack => ({
    width: dims.hiddenSize,
    enter: (embedding) => embedding,
    // One stream has nothing to exchange.
    before: () => undefined,
    leave: (x) => x,
  }),
});

export const STACKS = [sequential] as const;
