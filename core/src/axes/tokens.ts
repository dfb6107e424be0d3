import type { Axis } from './parts.js';

/** Injection tokens of the axes. `Symbol.for`, so that two copies of this package agree. */
export const ATTENTION_MIXER = Symbol.for('kvad.mixer');
export const FEED_FORWARD = Symbol.for('kvad.ffn');
export const ROUTER = Symbol.for('kvad.router');
export const SHARED_EXPERT = Symbol.for('kvad.shared-expert');
export const BLOCK = Symbol.for('kvad.block');
export const STACK = Symbol.for('kvad.stack');
export const INPUT = Symbol.for('kvad.input');
export const NORM = Symbol.for('kvad.norm');
export const ACTIVATION = Symbol.for('kvad.activation');

export const AXIS_TOKENS: Readonly<Record<Axis, symbol>> = {
  mixer: ATTENTION_MIXER,
  ffn: FEED_FORWARD,
  router: ROUTER,
  'shared-expert': SHARED_EXPERT,
  block: BLOCK,
  stack: STACK,
  input: INPUT,
  norm: NORM,
  activation: ACTIVATION,
};
