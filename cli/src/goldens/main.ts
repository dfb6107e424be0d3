/**
 * `npm run goldens -- DIR… [--json] [--no-fetch] [--tokenizers native|javascript]`: compares kvad with folders of
 * expected values. Exit code 1 where one differs. Files that goldens of tokenizers name are fetched with npm where they
 * are not there; what cannot be had is named and not counted.
 */
import { parseArgs } from 'node:util';
import { runGoldens, type GoldensOptions } from './kinds.js';
import type { GoldensReport } from './report.js';

const USAGE = 'usage: npm run goldens -- DIR… [--json] [--no-fetch] [--tokenizers native|javascript]';
const { json, dirs, options } = asked();

const reports: GoldensReport[] = [];
for (const dir of dirs) {
  const report = await runGoldens(dir, options).catch((error: unknown) => stop(error, 1));
  reports.push(report);
  if (!json) print(report);
}
if (json) say(JSON.stringify(reports, null, 2));
process.exitCode = reports.every(({ cases, equal, refused_both: both }) => equal + both === cases && cases > 0) ? 0 : 1;

function print(report: GoldensReport): void {
  const { dir, kind, cases, equal, refused_both: both, max_rel: maxRel, not_run: notRun = [], failures } = report;
  const refused = both === 0 ? '' : `, ${both} refused by both`;
  const noise = maxRel === undefined ? '' : `, largest relative difference ${maxRel.toExponential(1)}`;
  say(`${dir} (${kind}): ${equal} of ${cases} equal${refused}${noise}`);
  for (const { id, reason } of notRun) say(`  not run: ${id}: ${reason}`);
  for (const { id, expected, got } of failures) {
    say(`  ${id}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Asked {
  readonly json: boolean;
  readonly dirs: readonly string[];
  readonly options: GoldensOptions;
}

function asked(): Asked {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, 'no-fetch': { type: 'boolean' }, tokenizers: { type: 'string' } },
    });
    const library = values.tokenizers ?? 'native';
    if (library !== 'native' && library !== 'javascript') return stop(`--tokenizers ${library} is none`, 2);
    if (positionals.length === 0) return stop('no folder is named', 2);
    return { json: values.json === true, dirs: positionals, options: { fetch: values['no-fetch'] !== true, library } };
  } catch (error) {
    return stop(error, 2);
  }
}

/** Arguments that mean nothing (2), a folder that cannot be compared at all (1). */
function stop(error: unknown, exit: 1 | 2): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (exit === 2) process.stderr.write(`${USAGE}\n`);
  process.exit(exit);
}
