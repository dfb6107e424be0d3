/**
 * What a run of the tests comes to, from vitest's JSON report and its exit code. A file that fails as a whole (it cannot
 * be imported, a hook throws) holds no failed test: it counts as one. So does a run that fails for a reason of its own.
 */
export const countTests = (report, exitCode) => {
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  );
  const failed = report.numFailedTests + brokenFiles.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
};

/** A step before the tests failed, so that none was run. */
export const NOTHING_RAN = { passed: 0, failed: 1, skipped: 0 };

export const closingLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;
