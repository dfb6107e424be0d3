import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, without types
import { closingLine, countTests } from '../../../scripts/closing-line.mjs';

const count = countTests as (report: object, exitCode: number) => { passed: number; failed: number; skipped: number };

const report = (numbers: object, testResults: object[] = []): object => ({
  numPassedTests: 7,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults,
  ...numbers,
});

describe('the closing line', () => {
  it('reads N passed, N failed, N skipped', () => {
    const counts = count(report({ numFailedTests: 2, numPendingTests: 1, numTodoTests: 3 }), 1);
    expect((closingLine as (counts: object) => string)(counts)).toBe('7 passed, 2 failed, 4 skipped');
  });

  it('counts a file that cannot be loaded as a failure', () => {
    const broken = { status: 'failed', assertionResults: [] };
    expect(count(report({}, [broken]), 1)).toEqual({ passed: 7, failed: 1, skipped: 0 });
  });

  it('counts a file with failed tests by its tests', () => {
    const file = { status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'passed' }] };
    expect(count(report({ numFailedTests: 1 }, [file]), 1).failed).toBe(1);
  });

  it('does not call a run good that the runner calls bad', () => {
    expect(count(report({}), 1).failed).toBe(1);
    expect(count(report({}), 0).failed).toBe(0);
  });
});
