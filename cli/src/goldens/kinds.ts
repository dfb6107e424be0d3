import { statSync } from 'node:fs';
import type { GoldensReport } from './report.js';
import { isScoringFolder, scoringGoldens } from './scoring.js';
import { isTemplatesFolder, templateGoldens } from './templates.js';
import { isTokenizersFolder, tokenizerGoldens, type TokenizerGoldensOptions } from './tokenizers.js';

export type GoldensOptions = Pick<TokenizerGoldensOptions, 'fetch' | 'library'>;

/** A kind of folder. Others join the list. */
interface Kind {
  readonly kind: GoldensReport['kind'];
  recognises(dir: string): boolean;
  run(dir: string, options: GoldensOptions): Promise<GoldensReport>;
}

const KINDS: readonly Kind[] = [
  { kind: 'scoring', recognises: isScoringFolder, run: (dir) => scoringGoldens(dir) },
  { kind: 'templates', recognises: isTemplatesFolder, run: (dir) => templateGoldens(dir) },
  { kind: 'tokenizers', recognises: isTokenizersFolder, run: tokenizerGoldens },
];

/** Rejects with a sentence where the folder cannot be compared. */
export const runGoldens = async (dir: string, options: GoldensOptions = {}): Promise<GoldensReport> => {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) throw new Error(`${dir} is no folder`);
  const kind = KINDS.find(({ recognises }) => recognises(dir));
  if (kind) return kind.run(dir, options);
  throw new Error(`${dir} is no folder of goldens: it is like none of ${KINDS.map((known) => known.kind).join(', ')}`);
};
