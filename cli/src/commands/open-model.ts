import type { Engine, LoadedModel, LoadOptions } from '@kvad/core';
import { createContainer } from '../container.js';
import type { Io } from '../io/io.js';
import { warn } from '../io/warn.js';
import { findModel, namesOf, placesOf, type NamedModel } from '../model-folder.js';
import { showBanner } from './banner.js';
import { ENGINE } from '../tokens.js';
import { interruptible } from './interruptible.js';

/** What `withModel` needs to load one. */
export interface ModelChoice {
  readonly model: string | null;
  readonly plugins: readonly string[];
  readonly load: LoadOptions;
}

/** The same model with other options. */
export type LoadAgain = (load: LoadOptions) => Promise<LoadedModel>;

/** Loads a model, gives it to `use`, closes it whatever happens; its warnings go to stderr. */
export const withModel = async (
  io: Io,
  choice: ModelChoice,
  use: (model: LoadedModel, names: NamedModel, loadAgain: LoadAgain) => Promise<void>,
): Promise<void> => {
  const options = { plugins: choice.plugins, workingDirectory: io.cwd, env: io.env };
  const engine = createContainer(options, io.startThreads).resolve<Engine>(ENGINE);
  try {
    const found = findModel(choice.model, placesOf(io));
    for (const warning of found.warnings) await warn(io, warning);
    const model = await interruptible(io.interrupt, engine.load(found.folder, choice.load));
    await showBanner(io, found, model.facts);
    const told = new Set<string>();
    await tell(io, model, told);
    const names = namesOf({ id: found.id, folder: model.facts.directory });
    await use(model, names, (load) => interruptible(io.interrupt, engine.load(found.folder, load)));
    await tell(io, model, told);
  } finally {
    await engine.close();
  }
};

/** Warnings that have come since. */
const tell = async (io: Io, { facts }: LoadedModel, told: Set<string>): Promise<void> => {
  for (const warning of facts.warnings) {
    if (!told.has(warning)) await warn(io, warning);
    told.add(warning);
  }
};
