import { entry, list } from './entry.js';

/** A place on the Hub, as messages name it. */
export interface Place {
  /** `owner/name`, or `owner/name@revision`. */
  readonly model: string;
}

/** Models of the Hub and the cache that they lie in. */
export const HUB_ERRORS = {
  KVAD_E_HUB_OFFLINE: entry<{ what: string }>(
    (p) => `HF_HUB_OFFLINE is set, and ${p.what} needs the Hub`,
    'unset HF_HUB_OFFLINE, or use a model that kvad ls shows as whole',
  ),
  KVAD_E_HUB_UNREACHABLE: entry<{ host: string; reason: string }>(
    (p) => `${p.host} does not answer: ${p.reason}`,
    'check the network and HF_ENDPOINT; the same command goes on where it stopped',
  ),
  KVAD_E_HUB_STATUS: entry<{ what: string; host: string; status: number; reason: string }>(
    (p) => `${p.host} answers ${p.status} for ${p.what}: ${p.reason}`,
    (p) =>
      p.status === 429
        ? 'the Hub asks for a pause: run the same command later, or set HF_TOKEN, which allows more requests'
        : 'run the same command later: it goes on where it stopped',
  ),
  KVAD_E_HUB_ANSWER: entry<{ what: string; host: string; reason: string }>(
    (p) => `${p.host} answers for ${p.what} with something that no Hub sends: ${p.reason}`,
    'check that HF_ENDPOINT is a Hub, and that no proxy or login page stands before it',
  ),
  KVAD_E_HUB_MODEL_ABSENT: entry<Place & { host: string; token: boolean }>(
    (p) => `${p.host} has no model ${p.model}${p.token ? '' : ', or it is private'}`,
    (p) =>
      p.token
        ? 'check the name with kvad search'
        : 'check the name with kvad search; for a private model set HF_TOKEN to a token that may read it',
  ),
  KVAD_E_HUB_REVISION_ABSENT: entry<Place & { revision: string; known: readonly string[] | null }>(
    (p) =>
      `${p.model} has no revision ${p.revision}${p.known === null ? '' : ` in the cache; there are: ${list(p.known)}`}`,
    (p) =>
      p.known === null
        ? 'name a branch, a tag or a commit of the model, or leave it out for main'
        : `fetch it with kvad pull ${p.model}@${p.revision}, or name one that is there`,
  ),
  KVAD_E_HUB_FILE_ABSENT: entry<Place & { file: string }>(
    (p) => `${p.model} has no file ${p.file}`,
    'look at the files of the model on its page of the Hub',
  ),
  KVAD_E_HUB_GATED: entry<Place & { page: string; token: boolean }>(
    (p) => `${p.model} is gated: its owner wants its terms accepted before it can be downloaded`,
    (p) =>
      p.token
        ? `accept the terms on ${p.page} with the account that your token belongs to`
        : `accept the terms on ${p.page}, then set HF_TOKEN to a token of that account`,
  ),
  KVAD_E_HUB_TOKEN: entry<{ what: string; status: number; token: boolean }>(
    (p) =>
      p.token
        ? `the Hub refuses your token for ${p.what} (${p.status})`
        : `the Hub wants a token for ${p.what} (${p.status})`,
    (p) =>
      p.token
        ? 'make a token that may read this model, and set HF_TOKEN to it'
        : 'set HF_TOKEN to a token that may read this model',
  ),
  KVAD_E_HUB_CHECKSUM: entry<Place & { file: string; expected: string; found: string }>(
    (p) => `${p.file} of ${p.model} came with the checksum ${p.found}, the Hub tells ${p.expected}`,
    'something between the Hub and here changes what is sent: try another network, or HF_ENDPOINT without a mirror',
  ),
  KVAD_E_HUB_NO_SPACE: entry<Place & { folder: string; needed: string; free: string }>(
    (p) => `${p.model} needs ${p.needed} in ${p.folder}, which has ${p.free} left`,
    'make room (kvad ls shows what each model takes), or set HF_HUB_CACHE to a folder on a larger disk',
  ),
  KVAD_E_HUB_CACHE: entry<{ folder: string; reason: string }>(
    (p) => `the model cache ${p.folder} cannot be used: ${p.reason}`,
    'check its permissions, or set HF_HUB_CACHE to a folder of yours',
  ),
  KVAD_E_HUB_NOTHING_TO_RUN: entry<Place & { what: string; action: string }>(
    (p) => `${p.model} holds ${p.what}`,
    (p) => p.action,
  ),
  KVAD_E_HUB_INCOMPLETE: entry<Place & { folder: string; missing: readonly string[]; damaged: readonly string[] }>(
    (p) => {
      const parts = [
        ...(p.missing.length > 0 ? [`lacks ${list(p.missing)}`] : []),
        ...(p.damaged.length > 0 ? [`has a damaged ${list(p.damaged)}`] : []),
      ];
      return `${p.model} is not whole: ${p.folder} ${parts.join(' and ')}`;
    },
    (p) => `kvad pull ${p.model} fetches what is missing`,
  ),
  KVAD_E_HUB_NOT_CACHED: entry<Place & { folder: string }>(
    (p) => `${p.model} is not in the model cache ${p.folder}`,
    'kvad ls shows what is there',
  ),
  KVAD_E_DEFAULT_MODEL_GONE: entry<{ model: string; file: string; reason: string }>(
    (p) => `the default model ${p.model}, which kvad use wrote into ${p.file}, cannot be used: ${p.reason}`,
    'choose another with kvad use MODEL, or the bundled one with kvad use --bundled',
  ),
} as const;
