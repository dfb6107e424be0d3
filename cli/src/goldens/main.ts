/** `npm run goldens -- DIR… [--json]`: compares kvad with folders of expected values. Exit code 1 where one differs. */
import { parseArgs } from 'node:util';
import { runGoldens } from './kinds.js';
import type { GoldensReport } from './report.js';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } });
if (positionals.length === 0) throw new Error('usage: npm run goldens -- DIR… [--json]');

const reports: GoldensReport[] = [];
for (const dir of positionals) {
  const report = await runGoldens(dir).catch(stop);
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
