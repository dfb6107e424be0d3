import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { KvadError } from '@kvad/core';
import { isTrialReport, type TrialReport } from './trial-report.js';

const SCRIPT = fileURLToPath(new URL('./trial-process.js', import.meta.url));

export const IMPORT_LIMIT_SECONDS = 5;

/** What is imported on trial. */
export interface TrialSubject {
  readonly name: string;
  readonly entry: string;
}

/**
 * Lets another process import a plugin, before this one does: a module that computes without end, ends its process or
 * brings it down costs an error then, and not the program. What it prints is nobody's answer.
 * Throws KVAD_E_PLUGIN_TIMEOUT and KVAD_E_PLUGIN_IMPORT.
 */
export const tryImport = async ({ name, entry }: TrialSubject): Promise<void> => {
  const child = spawn(process.execPath, [SCRIPT, entry], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
    windowsHide: true,
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), IMPORT_LIMIT_SECONDS * 1000);
  try {
    const ended = new Promise<string>((resolve, reject) => {
      child.on('error', reject).on('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
    });
    const [said, end] = await Promise.all([text(child.stdio[3] as NodeJS.ReadableStream), ended]);
    const report = reportIn(said);
    if (report === null && child.killed)
      throw new KvadError('KVAD_E_PLUGIN_TIMEOUT', { plugin: name, entry, seconds: IMPORT_LIMIT_SECONDS });
    const reason = report === null ? `it ends the process that imports it (${end})` : report.error;
    if (reason !== null) throw new KvadError('KVAD_E_PLUGIN_IMPORT', { plugin: name, entry, reason });
  } finally {
    clearTimeout(limit);
  }
};

const reportIn = (said: string): TrialReport | null => {
  try {
    const report: unknown = JSON.parse(said);
    return isTrialReport(report) ? report : null;
  } catch {
    return null; // it was ended before it could say a whole sentence: the caller says why
  }
};
