import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { KvadError } from '@kvad/core';

export interface NpmRequest {
  /** As npm takes it. */
  readonly spec: string;
  /** An empty folder. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * No script of a package is run, and its peers are kvad's to give. A folder is copied, so that what was checked stays
 * as it was; what a plugin depends on lies inside of it.
 */
const FLAGS = [
  ...['--ignore-scripts', '--legacy-peer-deps', '--install-links', '--install-strategy=nested'],
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--prefer-offline'],
];

/** Installs one package with npm. Returns its name. Throws KVAD_E_PLUGIN_INSTALL with what npm said. */
export const npmInstall = async ({ spec, folder, env, signal }: NpmRequest): Promise<string> => {
  const description = path.join(folder, 'package.json');
  writeFileSync(description, JSON.stringify({ name: 'kvad-plugins', private: true }));
  const { code, said } = await run(['install', ...FLAGS, `--prefix=${folder}`, '--', spec], folder, env, signal);
  const refuse = (reason: string, absent = false): never => {
    throw new KvadError('KVAD_E_PLUGIN_INSTALL', { spec, reason, absent });
  };
  if (code === null) return refuse(said, true);
  if (code !== 0) return refuse(complaintIn(said));
  const { dependencies = {} } = JSON.parse(readFileSync(description, 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  const [name] = Object.keys(dependencies);
  return name ?? refuse('it installed nothing');
};

/** `code` null: npm could not be started. */
const run = (
  words: readonly string[],
  cwd: string,
  env: NpmRequest['env'],
  signal: AbortSignal,
): Promise<{ code: number | null; said: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', words, { cwd, env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true });
    // The process group of npm is ours: a signal to the terminal has reached it, another reason to stop has not.
    const stop = (): void => void child.kill();
    signal.addEventListener('abort', stop, { once: true });
    const said = text(child.stderr);
    child.on('error', (error) => resolve({ code: null, said: error.message }));
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason as Error);
      else said.then((words) => resolve({ code: code ?? 1, said: words }), reject);
    });
  });

/** `npm error code E404\nnpm error 404 Not Found - GET …`: the lines that say what, not where its log lies. */
const complaintIn = (said: string): string => {
  const lines = said
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/^(A complete log|code |errno |syscall |path )/.test(line));
  return lines.slice(0, 2).join('; ') || 'it says nothing';
};
