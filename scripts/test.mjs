/**
 * `npm test`: builds, checks the generated types, runs every test, and closes with `N passed, N failed, N skipped`,
 * counted from the runner's JSON report. A step or a test file that fails as a whole counts as one failure.
 * Arguments go to vitest: `npm test -- test/gates`.
 */
import { $, fs, path } from 'zx';

const root = path.resolve(import.meta.dirname, '..');
const report = path.join(root, 'test-results/vitest.json');
$.cwd = root;
$.stdio = ['ignore', 'inherit', 'inherit'];
$.nothrow = true;
$.quiet = true;

const close = ({ passed, failed, skipped }) => {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 ? 1 : 0;
};

const steps = async () => {
  const build = await $`node scripts/build.mjs`;
  if (build.exitCode !== 0) return stopped('the build');

  const types = await $`node scripts/generate-types.mjs --check`;
  if (types.exitCode !== 0) return stopped('generate --check');

  await fs.remove(report);
  const vitest =
    await $`npx vitest run --reporter=default --reporter=json --outputFile=${report} ${process.argv.slice(2)}`;
  if (!(await fs.pathExists(report))) return stopped('vitest');
  return count(await fs.readJson(report), vitest.exitCode);
};

const stopped = (step) => {
  console.error(`${step} failed: no test was run`);
  return { passed: 0, failed: 1, skipped: 0 };
};

const count = (json, exitCode) => {
  const brokenFiles = json.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  );
  const failed = json.numFailedTests + brokenFiles.length;
  return {
    passed: json.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: json.numPendingTests + json.numTodoTests,
  };
};

close(await steps());
