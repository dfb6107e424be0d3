import picocolors from 'picocolors';
import type { Io, Output } from './io.js';

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Colour only on a terminal, and not with NO_COLOR. */
export const colorsFor = (io: Io, stream: Output): Colors =>
  picocolors.createColors(stream.isTTY === true && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb');
