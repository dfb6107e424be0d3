import type { LoadedModel, LoadOptions } from '@kvad/core';
import { createEngine } from '../index.js';
import type { Io } from '../io/io.js';
import { warn } from '../io/warn.js';
import { interruptible } from './interruptible.js';

/** What `withModel` needs to load one. */
export interface ModelChoice {
  readonly model: string | null;
  readonly plugins: readonly string[];
  readonly load: LoadOptions;
}

/** Loads a model, prints its warnings on stderr, gives it to `use`, and closes it whatever happens. */
export const withModel = async (
  io: Io,
  choice: ModelChoice,
  use: (model: LoadedModel) => Promise<void>,
): Promise<void> => {
  const engine = createEngine({ plugins: choice.plugins, workingDirectory: io.cwd, env: io.env });
  try {
    const model = await interruptible(io.interrupt, engine.load(choice.model, choice.load));
    for (const warning of model.facts.warnings) await warn(io, warning);
    await use(model);
  } finally {
    await engine.close();
  }
};
