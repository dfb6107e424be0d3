import { colorsFor } from './colors.js';
import { writeLine, type Io } from './io.js';

export const warn = (io: Io, warning: string): Promise<void> =>
  writeLine(io.stderr, `${colorsFor(io, io.stderr).yellow('warning:')} ${warning}`);
