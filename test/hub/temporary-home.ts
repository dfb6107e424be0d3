import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LocalHub } from './local-hub.js';

/** A user's home for one test: caches and settings of its own, and the local Hub as the only one. */
export interface Home {
  readonly folder: string;
  /** The cache of the Hub. */
  readonly cache: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

export const temporaryHome = (hub: LocalHub | null): Home => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-home-'));
  return {
    folder,
    cache: path.join(folder, 'hf', 'hub'),
    env: {
      NO_COLOR: '1',
      HF_HOME: path.join(folder, 'hf'),
      HF_HUB_CACHE: '',
      HF_TOKEN: '',
      HF_ENDPOINT: hub?.endpoint ?? 'http://127.0.0.1:9',
      HF_HUB_OFFLINE: hub === null ? '1' : '0',
      HF_HUB_DOWNLOAD_TIMEOUT: '2',
      XDG_CONFIG_HOME: path.join(folder, 'config'),
      XDG_CACHE_HOME: path.join(folder, 'cache'),
      XDG_DATA_HOME: path.join(folder, 'data'),
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
