import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createEngine, type EngineOptions } from '../index.js';
import { Tally, type GoldensReport } from './report.js';
import { readExpected, ScoringFolder } from './scoring-folder.js';
import { compareKld, compareTopk, type ExpectedKld, type ExpectedTopk } from './scoring-kld.js';
import { compareRuns } from './scoring-runs.js';

/** One file of expected values that names weights and a text makes a folder one of scoring. */
export const isScoringFolder = (dir: string): boolean =>
  readdirSync(dir)
    .filter((name) => /^expected-.*\.json$/.test(name))
    .some((name) => canBeRead(path.join(dir, name)));

const canBeRead = (file: string): boolean => {
  try {
    readExpected(file);
    return true;
  } catch {
    return false; // Another kind may know this file; whoever compares the folder hears the reason.
  }
};

export interface ScoringGoldensOptions {
  /** Only these files of expected values. */
  readonly files?: readonly string[];
  /** Windows of each run that are compared; absent: all. */
  readonly windows?: number;
  /** How the models are run: KVAD_CPU in its `env`, plugins. */
  readonly engine?: EngineOptions;
}

/** Perplexity and divergence against llama-perplexity's, with f32 weights and cache. */
export const scoringGoldens = async (
  dir: string,
  { files, windows = Infinity, engine: engineOptions }: ScoringGoldensOptions = {},
): Promise<GoldensReport> => {
  const tally = new Tally();
  const engine = createEngine(engineOptions);
  const folder = new ScoringFolder(dir, engine);
  try {
    for (const name of files ?? folder.expected) {
      try {
        const file = folder.read(name);
        if ('base_file' in file) await compareKld(folder, name, file as ExpectedKld, tally);
        else if ('full_mean_kld' in file) await compareTopk(folder, name, file as ExpectedTopk, tally);
        else if (hasRuns(file)) await compareRuns(folder, name, file, windows, tally);
        else tally.notRun(name, `kvad has no mode that is ${file.kind}`);
      } catch (error) {
        tally.refused(name, error);
      }
    }
  } finally {
    folder.remove();
    await engine.close();
  }
  return tally.report(dir, 'scoring');
};

const METHODS: readonly unknown[] = ['chunks', 'sliding'];

type FileWithRuns = Parameters<typeof compareRuns>[2];

const hasRuns = (file: object): file is FileWithRuns =>
  'runs' in file &&
  Array.isArray(file.runs) &&
  file.runs.every((run) => METHODS.includes((run as { method?: unknown }).method));
