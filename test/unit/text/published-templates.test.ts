import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { GoldensReport } from '../../../cli/dist/goldens/report.js';
import { templateGoldens } from '../../../cli/dist/goldens/templates.js';

/** Published templates are not ours to ship: they lie beside the repository. */
const FOLDER = fileURLToPath(new URL('../../../../shared/fixtures/templates/', import.meta.url));
const PRESENT = existsSync(FOLDER);

/** Conversations that a model meets every day. */
const WELL_FORMED = [
  ...['user', 'system-user', 'multi-turn', 'ends-with-assistant', 'tools', 'tools-no-system', 'tool-call-result'],
  ...['tool-call-answered', 'enable-thinking', 'disable-thinking', 'think-in-history', 'reasoning-content'],
];

const shares = (report: GoldensReport): { renders: number; refusals: number } => {
  const { equal, different, refused_both: both, refused_only_here: here, refused_only_there: there } = report;
  return { renders: equal / (equal + different + here), refusals: both / (both + there) };
};

const show = (what: string, report: GoldensReport): void => {
  const { renders, refusals } = shares(report);
  const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
  process.stdout.write(`${what}: ${percent(renders)} of renders and ${percent(refusals)} of refusals as in Python\n`);
};

describe.skipIf(!PRESENT)(`published chat templates${PRESENT ? '' : ' (needs ../shared/fixtures/templates)'}`, () => {
  it('become the prompts that Python makes of them, and are refused where it refuses', async () => {
    const report = await templateGoldens(FOLDER);
    show('published templates', report);
    expect(report.cases).toBeGreaterThan(3_000);
    expect(report.failures).toEqual([]);
    expect(shares(report).renders).toBeGreaterThanOrEqual(0.995);
    expect(shares(report).refusals).toBeGreaterThanOrEqual(0.995);
  });

  it('are never silently different on well-formed conversations', async () => {
    const report = await templateGoldens(FOLDER, { conversations: WELL_FORMED });
    expect(report.cases).toBeGreaterThan(164 * WELL_FORMED.length - 1);
    expect([report.different, report.refused_only_there]).toEqual([0, 0]);
  });

  it('snippets of the language, each for one thing of it', async () => {
    const report = await templateGoldens(`${FOLDER}language`);
    show('snippets of the language', report);
    expect(report.failures).toEqual([]);
    expect((report.equal + report.refused_both) / report.cases).toBeGreaterThanOrEqual(0.95);
  });
});
