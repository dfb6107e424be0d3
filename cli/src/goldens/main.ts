/**
 * `npm run goldens -- DIR… [--json] [--no-fetch] [--tokenizers native|javascript]`: compares kvad with folders of
 * expected values. Exit code 1 where one differs. Files that goldens of tokenizers name are fetched with npm where they
 * are not there; what cannot be had is named and not counted.
 */
import { parseArgs } from 'node:util';
import { runGoldens } from './kinds.js';
import type { GoldensReport } from './report.js';

const USAGE = 'usage: npm run goldens -- DIR… [--json] [--no-fetch] [--tokenizers native|javascript]';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, 'no-fetch': { type: 'boolean' }, tokenizers: { type: 'string' } },
});
const library = values.tokenizers ?? 'native';
if (positionals.length === 0 || (library !== 'native' && library !== 'javascript')) throw new Error(USAGE);

const reports: GoldensReport[] = [];
for (const dir of positionals) {
  const report = await runGoldens(dir, { fetch: values['no-fetch'] !== true, library }).catch(stop);
  reports.push(report);
  if (values.json !== true) print(report);
}
if (values.json === true) say(JSON.stringify(reports, null, 2));
process.exitCode = reports.every(({ cases, equal, refused_both: both }) => equal + both === cases && cases > 0) ? 0 : 1;

function print({ dir, kind, cases, equal, max_rel: maxRel, not_run: notRun = [], failures }: GoldensReport): void {
  const noise = maxRel === undefined ? '' : `, largest relative difference ${maxRel.toExponential(1)}`;
  say(`${dir} (${kind}): ${equal} of ${cases} equal${noise}`);
  for (const { id, reason } of notRun) say(`  not run: ${id}: ${reason}`);
  for (const { id, expected, got } of failures) {
    say(`  ${id}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A folder that cannot be compared at all. */
function stop(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
