/**
 * `npm test`: builds, checks the generated types, runs every test, and closes with `N passed, N failed, N skipped`.
 * Arguments go to vitest: `npm test -- test/gates`.
 */
import { $, fs, path } from 'zx';
import { closingLine, countTests, NOTHING_RAN } from './closing-line.mjs';

const root = path.resolve(import.meta.dirname, '..');
const report = path.join(root, 'test-results/vitest.json');
const options = process.argv.slice(2);
const run = $({ cwd: root, stdio: ['ignore', 'inherit', 'inherit'], nothrow: true, quiet: true });

const counts = await runEverything();
console.log(closingLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

async function runEverything() {
  if ((await run`node scripts/build.mjs`).exitCode !== 0) return nothingRan('the build');
  if ((await run`node scripts/generate-types.mjs --check`).exitCode !== 0) return nothingRan('generate --check');

  await fs.remove(report);
  const vitest = await run`npx vitest run --reporter=default --reporter=json --outputFile=${report} ${options}`;
  if (!(await fs.pathExists(report))) return nothingRan('vitest');
  return countTests(await fs.readJson(report), vitest.exitCode);
}

function nothingRan(step) {
  console.error(`${step} failed: no test was run`);
  return NOTHING_RAN;
}
