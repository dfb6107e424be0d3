/** kvad as a user gets it: every package packed, the tarballs installed into an empty folder. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { $ } from 'zx';
import { packages, root } from '../gates/sources.js';

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

export interface Installed {
  /** The folder that a user works in; `node_modules` is there. */
  readonly folder: string;
  /** Runs `npx kvad …` there. */
  kvad(...words: string[]): Promise<Output>;
  /** Runs `node …` there. */
  node(...words: string[]): Promise<Output>;
  /** Runs a line of the shell in a folder below. */
  shell(line: string, folder: string): Promise<Output>;
  remove(): void;
}

/** What a stranger has: no settings of ours, nothing of a terminal. */
const environment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  XDG_DATA_HOME: path.join(folder, 'data'),
  XDG_CACHE_HOME: path.join(folder, 'cache'),
  HF_HUB_OFFLINE: '1',
  NO_COLOR: '1',
});

export const installPacked = async (): Promise<Installed> => {
  const place = mkdtempSync(path.join(tmpdir(), 'kvad-e2e-'));
  const folder = path.join(place, 'user');
  const tarballs = path.join(place, 'tarballs');
  mkdirSync(folder);
  mkdirSync(tarballs);

  const workspaces = packages().map(({ name }) => `--workspace=${name}`);
  await $({ cwd: root, quiet: true })`npm pack ${workspaces} --ignore-scripts --pack-destination ${tarballs}`;
  const files = readdirSync(tarballs).map((file) => path.join(tarballs, file));

  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'a-user', private: true }));
  await $({ cwd: folder, quiet: true })`npm install --prefer-offline --no-audit --no-fund ${files}`;

  const env = environment(place);
  const run = $({ cwd: folder, quiet: true, nothrow: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    folder,
    kvad: async (...words) => outputOf(await run`npx --no-install kvad ${words}`),
    node: async (...words) => outputOf(await run`node ${words}`),
    shell: async (line, cwd) => outputOf(await run({ cwd })`bash -c ${line}`),
    remove: () => {
      rmSync(place, { recursive: true, force: true });
    },
  };
};

const outputOf = ({ stdout, stderr, exitCode }: Output): Output => ({ stdout, stderr, exitCode });
