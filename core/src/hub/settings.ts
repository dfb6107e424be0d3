import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { KvadError } from '../errors/kvad-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the Hub and its cache are, by the variables that Python's huggingface_hub reads. */
export interface HubSettings {
  /** `HF_ENDPOINT`, without a slash at its end. */
  readonly endpoint: string;
  /** `HF_HUB_CACHE`, else `hub` in `HF_HOME`. */
  readonly cache: string;
  /** `HF_HUB_OFFLINE` (or `TRANSFORMERS_OFFLINE`): no socket is opened. */
  readonly offline: boolean;
  /** False: `HF_HUB_DISABLE_SYMLINKS`; snapshots then hold the files themselves. */
  readonly symlinks: boolean;
  /** Milliseconds without a byte after which a connection is given up (`HF_HUB_DOWNLOAD_TIMEOUT`, in seconds). */
  readonly patience: number;
  /** `HF_TOKEN`, else the file that `hf auth login` writes. Read when it is first sent. */
  token(): string | null;
}

const ENDPOINT = 'https://huggingface.co';

/** Seconds, as in Python. */
const PATIENCE = 10;

/** Throws KVAD_E_OPTION for an endpoint that is no address, and for a timeout that is no number. */
export const hubSettings = (env: Environment): HubSettings => {
  const home = hubHome(env);
  let token: string | null | undefined;
  return {
    endpoint: endpointOf(env['HF_ENDPOINT']),
    cache: cacheFolder(env, home),
    offline: isTrue(env['HF_HUB_OFFLINE']) || isTrue(env['TRANSFORMERS_OFFLINE']),
    symlinks: !isTrue(env['HF_HUB_DISABLE_SYMLINKS']),
    patience: patienceOf(env['HF_HUB_DOWNLOAD_TIMEOUT']),
    token: () => (token === undefined ? (token = tokenOf(env, home)) : token),
  };
};

/** The folder of the Hugging Face cache. */
export const hubCacheFolder = (env: Environment): string => cacheFolder(env, hubHome(env));

const hubHome = (env: Environment): string => {
  const base = given(env['XDG_CACHE_HOME']) ?? path.join(homedir(), '.cache');
  return expand(given(env['HF_HOME']) ?? path.join(base, 'huggingface'));
};

const cacheFolder = (env: Environment, home: string): string =>
  expand(given(env['HF_HUB_CACHE']) ?? given(env['HUGGINGFACE_HUB_CACHE']) ?? path.join(home, 'hub'));

const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

const expand = (folder: string): string => path.resolve(folder.replace(/^~(?=$|[/\\])/, homedir()));

const isTrue = (value: string | undefined): boolean => /^(1|on|yes|true)$/i.test(value ?? '');

const endpointOf = (value: string | undefined): string => {
  const text = (given(value) ?? ENDPOINT).replace(/\/+$/, '');
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  const expected = 'the address of a Hub, such as https://huggingface.co';
  throw new KvadError('KVAD_E_OPTION', { option: 'HF_ENDPOINT', value: text, expected });
};

const patienceOf = (value: string | undefined): number => {
  const seconds = Number(given(value) ?? PATIENCE);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= 86_400) return seconds * 1000;
  const expected = 'a number of seconds above 0';
  throw new KvadError('KVAD_E_OPTION', { option: 'HF_HUB_DOWNLOAD_TIMEOUT', value: value ?? '', expected });
};

const tokenOf = (env: Environment, home: string): string | null => {
  const variable = clean(env['HF_TOKEN'] ?? '') ?? clean(env['HUGGING_FACE_HUB_TOKEN'] ?? '');
  if (variable !== null) return variable;
  if (isTrue(env['HF_HUB_DISABLE_IMPLICIT_TOKEN'])) return null;
  const file = given(env['HF_TOKEN_PATH']);
  try {
    return clean(readFileSync(file === undefined ? path.join(home, 'token') : expand(file), 'utf8'));
  } catch {
    return null; // nobody logged in; what needs a token is refused by the Hub, and that error says so
  }
};

const clean = (text: string): string | null => text.replace(/[\r\n]/g, '').trim() || null;
