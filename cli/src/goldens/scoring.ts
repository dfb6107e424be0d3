import { readdirSync } from 'node:fs';
import { createEngine } from '../index.js';
import { Tally, type GoldensReport } from './report.js';
import { ScoringFolder } from './scoring-folder.js';
import { compareKld, compareTopk, type ExpectedKld, type ExpectedTopk } from './scoring-kld.js';
import { compareRuns } from './scoring-runs.js';

export const isScoringFolder = (dir: string): boolean =>
  readdirSync(dir).some((name) => /^expected-.*\.json$/.test(name));

export interface ScoringGoldensOptions {
  /** Only these files of expected values. */
  readonly files?: readonly string[];
  /** Windows of each run that are compared; absent: all. */
  readonly windows?: number;
}

/** Perplexity and divergence against llama-perplexity's, with f32 weights and cache. */
export const scoringGoldens = async (
  dir: string,
  { files, windows = Infinity }: ScoringGoldensOptions = {},
): Promise<GoldensReport> => {
  const tally = new Tally();
  const engine = createEngine();
  const folder = new ScoringFolder(dir, engine);
  try {
    for (const name of files ?? folder.expected) {
      const file = folder.read(name);
      try {
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
