import type { GoldensReport } from './report.js';
import { isScoringFolder, scoringGoldens } from './scoring.js';

/** A kind of folder. Others join the list. */
interface Kind {
  readonly kind: GoldensReport['kind'];
  recognises(dir: string): boolean;
  run(dir: string): Promise<GoldensReport>;
}

const KINDS: readonly Kind[] = [{ kind: 'scoring', recognises: isScoringFolder, run: (dir) => scoringGoldens(dir) }];

export const runGoldens = (dir: string): Promise<GoldensReport> => {
  const kind = KINDS.find(({ recognises }) => recognises(dir));
  if (kind) return kind.run(dir);
  throw new Error(`${dir} is no folder of goldens: it is like none of ${KINDS.map((known) => known.kind).join(', ')}`);
};
