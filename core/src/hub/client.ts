import { KvadError } from '../errors/kvad-error.js';
import { isCommit, MAIN, type HubModel } from './model-id.js';
import { HubRequests, type HubRequestOptions } from './request.js';
import { targetName, type HubTarget } from './refuse-status.js';
import type { HubSettings } from './settings.js';

/** A file of a model on the Hub. */
export interface HubFile {
  /** With `/` between folders; checked: it leads nowhere else. */
  readonly path: string;
  readonly bytes: number;
  /** What its content must hash to; its blob in the cache has the digits as name. */
  readonly hash: { readonly kind: 'sha256' | 'git-sha1'; readonly digits: string };
}

/** What the Hub tells of a model that a search finds. */
export interface HubListing {
  readonly id: string;
  readonly downloads: number;
  readonly likes: number;
  readonly gated: boolean;
  readonly private: boolean;
  readonly tags: readonly string[];
  /** The part of config.json that the Hub keeps: `model_type`, `architectures`, `tokenizer_config`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Parameters by dtype, of the safetensors files; null where the Hub has not counted any. */
  readonly parameters: Readonly<Record<string, number>> | null;
  readonly files: readonly string[];
}

/** Most bytes of a file that is read as text: 64 MB, as for an index of shards. */
const MOST_TEXT = 64 * 2 ** 20;

/** The Hub by `@huggingface/hub`, every request of which goes through `HubRequests`. */
export class HubClient {
  readonly requests: HubRequests;

  constructor(settings: HubSettings, options: HubRequestOptions = {}) {
    this.requests = new HubRequests(settings, options);
  }

  /** The commit that a revision names now. A full commit is returned without asking. */
  async commitOf(model: HubModel): Promise<string> {
    const revision = model.revision ?? MAIN;
    if (isCommit(revision)) return revision;
    const target = { model, file: null };
    const { modelInfo } = await import('@huggingface/hub');
    const info = await this.requests.retrying(target, () =>
      modelInfo({ name: model.id, revision, additionalFields: ['sha'], ...this.#library(target) }),
    );
    if (typeof info.sha === 'string' && isCommit(info.sha)) return info.sha;
    throw this.#strange(target, 'it names no commit');
  }

  /** All files of a commit. */
  async listFiles(model: HubModel, commit: string): Promise<HubFile[]> {
    const target = { model, file: null };
    const { listFiles } = await import('@huggingface/hub');
    const entries = await this.requests.retrying(target, async () => {
      const repo = { type: 'model' as const, name: model.id };
      const found = [];
      for await (const entry of listFiles({ repo, revision: commit, recursive: true, ...this.#library(target) })) {
        found.push(entry);
      }
      return found;
    });
    return entries
      .filter(({ type }) => type === 'file')
      .map(({ path, size, oid, lfs }) => {
        const hash =
          lfs === undefined
            ? ({ kind: 'git-sha1', digits: oid ?? '' } as const)
            : ({ kind: 'sha256', digits: lfs.oid } as const);
        const bytes = lfs?.size ?? size;
        const digits = hash.kind === 'sha256' ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{40}$/;
        if (!isInnerPath(path)) throw this.#strange(target, `it lists a file ${JSON.stringify(path)}`);
        if (!digits.test(hash.digits) || !Number.isSafeInteger(bytes) || bytes < 0) {
          throw this.#strange(target, `it tells no size and hash of ${path}`);
        }
        return { path, bytes, hash };
      });
  }

  /** Models by their name, the most downloaded first. */
  async search(query: string, limit: number): Promise<HubListing[]> {
    const target = { model: null, file: null };
    const { listModels } = await import('@huggingface/hub');
    const additionalFields = ['config', 'safetensors', 'tags', 'filePaths'] as const;
    return this.requests.retrying(target, async () => {
      const found: HubListing[] = [];
      const options = { search: { query }, sort: 'downloads' as const, limit, additionalFields: [...additionalFields] };
      for await (const entry of listModels({ ...options, ...this.#library(target) })) {
        const { name, downloads, likes, gated, private: isPrivate } = entry;
        const { tags, config, safetensors, filePaths: files } = entry;
        const parameters = safetensors?.parameters ?? null;
        found.push({
          ...{ id: name, downloads: downloads ?? 0, likes: likes ?? 0, gated: Boolean(gated), private: isPrivate },
          ...{ tags: tags ?? [], config: isRecord(config) ? config : {}, parameters, files },
        });
      }
      return found;
    });
  }

  /** Milliseconds that the Hub takes to answer. Throws KVAD_E_HUB_*. */
  async ping(): Promise<number> {
    const target = { model: null, file: null };
    return this.requests.retrying(target, async () => {
      const start = performance.now();
      const response = await this.requests.fetch(target, `${this.requests.settings.endpoint}/api/models?limit=1`);
      await response.json();
      return performance.now() - start;
    });
  }

  /** A file as text (UTF-8). Throws KVAD_E_HUB_FILE_ABSENT where there is none. */
  async fetchText(model: HubModel, file: string): Promise<string> {
    const target = { model, file };
    return this.requests.retrying(target, async () => {
      const response = await this.requests.fetch(target, this.fileAddress(model, file));
      const told = Number(response.headers.get('content-length') ?? 0);
      const parts: Uint8Array[] = [];
      let bytes = told;
      if (told <= MOST_TEXT) {
        bytes = 0;
        for await (const part of response.body ?? []) {
          bytes += part.length;
          if (bytes > MOST_TEXT) break;
          parts.push(part);
        }
      }
      if (bytes > MOST_TEXT) throw this.#strange(target, `it is larger than ${MOST_TEXT} bytes`);
      return new TextDecoder().decode(Buffer.concat(parts));
    });
  }

  /** A file as JSON. Throws KVAD_E_HUB_ANSWER where it is none. */
  async fetchJson(model: HubModel, file: string): Promise<unknown> {
    const text = await this.fetchText(model, file);
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw this.#strange({ model, file }, `it is not JSON (${(error as Error).message})`, error);
    }
  }

  /** Bytes `start` to `end` (exclusive) of a file; fewer where it ends before. Never more is loaded. */
  async fetchRange(model: HubModel, file: string, start: number, end: number): Promise<Uint8Array> {
    const target = { model, file };
    return this.requests.retrying(target, async () => {
      const headers = { range: `bytes=${start}-${end - 1}`, 'accept-encoding': 'identity' };
      const response = await this.requests.fetch(target, this.fileAddress(model, file), { headers }, [416]);
      if (response.status !== 206) {
        await response.body?.cancel();
        if (response.status === 416) return new Uint8Array(0);
        throw this.#strange(target, `it does not send bytes ${start} to ${end} alone (status ${response.status})`);
      }
      const bytes = new Uint8Array(end - start);
      let filled = 0;
      for await (const part of response.body ?? []) {
        if (filled + part.length > bytes.length) throw this.#strange(target, 'it sends more bytes than were asked for');
        bytes.set(part, filled);
        filled += part.length;
      }
      return bytes.subarray(0, filled);
    });
  }

  /** Where a file lies; the revision of `model`, or main. */
  fileAddress({ id, revision }: HubModel, file: string): string {
    const encoded = file.split('/').map(encodeURIComponent).join('/');
    return `${this.requests.settings.endpoint}/${id}/resolve/${encodeURIComponent(revision ?? MAIN)}/${encoded}`;
  }

  /** For the functions of the library: its requests are ours, so that token, redirects and waits follow one rule. */
  #library(target: HubTarget): { hubUrl: string; fetch: typeof fetch } {
    return {
      hubUrl: this.requests.settings.endpoint,
      fetch: (url, init) => this.requests.fetch(target, url instanceof Request ? url.url : String(url), init),
    };
  }

  #strange(target: HubTarget, reason: string, cause?: unknown): KvadError {
    const { host } = this.requests;
    return new KvadError('KVAD_E_HUB_ANSWER', { what: targetName(target), host, reason }, { cause });
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A relative path that stays below its folder on every system: no `..`, no drive, no device, no stream. */
export const isInnerPath = (text: string): boolean =>
  text.length <= 1024 &&
  text.split('/').every((part) => part !== '' && part.length <= 255 && !/^\.{1,2}$/.test(part)) &&
  // Control characters, and what Windows takes as a drive, a stream or a pattern.
  [...text].every((letter) => letter.codePointAt(0)! >= 32 && !'\\:*?"<>|'.includes(letter)) &&
  !/(^|\/)(con|prn|aux|nul|com\d|lpt\d)(\.|\/|$)/i.test(text);
