import type { LoadedModel, LoadOptions } from '@kvad/core';
import { createEngine } from '../index.js';
import { colorsFor } from '../io/colors.js';
import { writeLine, type Io } from '../io/io.js';
import { interruptible } from './interruptible.js';

/** What `withModel` needs to load one. */
export interface ModelChoice {
  readonly model: string | null;
  readonly plugins: readonly string[];
  readonly load: LoadOptions;
}

/** Loads a model, prints its warnings on stderr, gives it to `use`, and closes it whatever happens. */
export const withModel = async <T>(
  io: Io,
  choice: ModelChoice,
  use: (model: LoadedModel) => Promise<T>,
): Promise<T> => {
  const engine = createEngine({ plugins: choice.plugins, workingDirectory: io.cwd });
  try {
    const model = await interruptible(io.interrupt, engine.load(choice.model, choice.load));
    for (const warning of model.facts.warnings) await warn(io, warning);
    return await use(model);
  } finally {
    await engine.close();
  }
};

export const warn = (io: Io, warning: string): Promise<void> =>
  writeLine(io.stderr, `${colorsFor(io, io.stderr).yellow('warning:')} ${warning}`);
