/** The process that `trial.ts` starts: imports the file of its argument, says how that went, and ends. */
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { packagesAsTheyLie, resolveCoreToHost } from './host-core.js';
import type { TrialReport } from './trial-report.js';

const REPORT = 3;

const entry = process.argv[2] ?? '';
let error: string | null = null;
resolveCoreToHost(entry, packagesAsTheyLie().core);
try {
  await import(pathToFileURL(entry).href);
} catch (thrown) {
  error = thrown instanceof Error ? thrown.message : String(thrown);
}
writeSync(REPORT, JSON.stringify({ error } satisfies TrialReport));
// A timer or a socket that the module has left open is not waited for.
process.exit();
