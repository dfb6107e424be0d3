import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendBytes, takeMishap, type Mishap } from './mishaps.js';
import { commitOf, folderContents, type Contents, type HeldFile, type HeldModel } from './repository.js';

/** A request as the server saw it. */
export interface SeenRequest {
  /** `hub`, or `files`: the other host that large files lie on. */
  readonly host: 'hub' | 'files';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

interface AddOptions {
  readonly gated?: HeldModel['gated'];
  readonly private?: boolean;
  readonly downloads?: number;
  readonly allowed?: readonly string[];
  /** Sizes that the list of files tells in place of the true ones. */
  readonly claims?: Readonly<Record<string, number>>;
}

/**
 * A Hub on this machine: the endpoints that a client needs, answered as the real one does (statuses, `X-Error-Code`,
 * ETags, redirects of LFS files to another host, ranges), with mishaps on request.
 */
export class LocalHub {
  readonly requests: SeenRequest[] = [];
  /** Asked for first to last; the first that fits a request hits it. */
  readonly mishaps: Mishap[] = [];
  readonly #models = new Map<string, HeldModel>();
  readonly #byHash = new Map<string, HeldFile>();
  readonly #hub: Server;
  readonly #files: Server;

  private constructor() {
    this.#hub = createServer((request, response) => void this.#serve('hub', request, response));
    this.#files = createServer((request, response) => void this.#serve('files', request, response));
  }

  static async start(): Promise<LocalHub> {
    const hub = new LocalHub();
    for (const server of [hub.#hub, hub.#files]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    }
    return hub;
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#files]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** For `HF_ENDPOINT`. */
  get endpoint(): string {
    return address(this.#hub);
  }

  get filesEndpoint(): string {
    return address(this.#files);
  }

  /** Adds a model, or a commit to one, which `main` then names. A string is a folder. Returns the commit. */
  add(id: string, source: string | Contents, options: AddOptions = {}): string {
    const { commit, files } = commitOf(typeof source === 'string' ? folderContents(source) : source);
    const held = this.#models.get(id) ?? {
      ...{ id, commits: new Map(), refs: new Map() },
      ...{ gated: options.gated ?? false, private: options.private ?? false, downloads: options.downloads ?? 1 },
      ...{ allowed: new Set(options.allowed ?? []), claims: options.claims ?? {} },
    };
    held.commits.set(commit, files);
    held.refs.set('main', commit);
    for (const file of files.values()) if (file.lfs !== null) this.#byHash.set(file.lfs, file);
    this.#models.set(id, held);
    return commit;
  }

  /** A branch or tag of a model. */
  tag(id: string, name: string, commit: string): void {
    this.#models.get(id)?.refs.set(name, commit);
  }

  /** Requests whose address holds this text. */
  seen(text: string): SeenRequest[] {
    return this.requests.filter(({ url }) => url.includes(text));
  }

  async #serve(host: SeenRequest['host'], request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    this.requests.push({ host, method, url, headers });
    const mishap = takeMishap(this.mishaps, host, host === 'files' ? `${url} ${this.#nameOf(url)}` : url);
    if (mishap?.kind === 'status') return refuse(response, mishap.status, null, 'a mishap', mishap.headers);
    if (mishap?.kind === 'page') return page(response);
    if (mishap?.kind === 'meanwhile') await mishap.act();
    const words = new URL(url, 'http://hub').pathname.split('/').slice(1).map(decodeURIComponent);
    if (host === 'files') return this.#sendBlob(request, response, words[1] ?? '', mishap);
    if (words[0] === 'api' && words[1] === 'models') return this.#api(request, response, words.slice(2), mishap);
    const at = words.indexOf('resolve');
    if (at < 1) return refuse(response, 404, null, 'Sorry, we can’t find the page');
    this.#resolve(request, response, words.slice(0, at).join('/'), words[at + 1] ?? '', words.slice(at + 2), mishap);
  }

  /** So that a mishap may name the file, not its hash. */
  #nameOf(url: string): string {
    return this.#byHash.get(url.split('/')[2]?.split('?')[0] ?? '')?.path ?? '';
  }

  #api(request: IncomingMessage, response: ServerResponse, words: readonly string[], mishap: Mishap | null): void {
    const { searchParams } = new URL(request.url ?? '/', 'http://hub');
    if (words.length === 0 || words[0] === '') {
      const found = [...this.#models.values()]
        .filter(({ id, private: isPrivate }) => !isPrivate && id.includes(searchParams.get('search') ?? ''))
        .sort((a, b) => b.downloads - a.downloads)
        .slice(0, Number(searchParams.get('limit') ?? 1000))
        .map((model) => apiModel(model, model.refs.get('main') ?? ''));
      return json(request, response, found, mishap);
    }
    const verb = words.findIndex((word) => word === 'revision' || word === 'tree');
    const id = words.slice(0, verb === -1 ? undefined : verb).join('/');
    const revision = verb === -1 ? 'main' : (words[verb + 1] ?? 'main');
    const model = this.#visible(request, response, id, false);
    if (model === null) return;
    const commit = commitNamed(model, revision);
    if (commit === null) return refuse(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    if (words[verb] !== 'tree') return json(request, response, apiModel(model, commit), mishap);
    json(request, response, treeOf(model.commits.get(commit) ?? new Map(), model.claims), mishap);
  }

  #resolve(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    revision: string,
    words: readonly string[],
    mishap: Mishap | null,
  ): void {
    const model = this.#visible(request, response, id, true);
    if (model === null) return;
    const commit = commitNamed(model, revision);
    if (commit === null) return refuse(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    const file = model.commits.get(commit)?.get(words.join('/'));
    if (file === undefined) return refuse(response, 404, 'EntryNotFound', 'Entry not found');
    const headers = { 'X-Repo-Commit': commit, ETag: `"${file.lfs ?? file.oid}"`, 'Accept-Ranges': 'bytes' };
    if (file.lfs === null) return sendRange(request, response, file.bytes, headers, mishap);
    response.writeHead(302, {
      ...headers,
      Location: `${this.filesEndpoint}/lfs/${file.lfs}?signature=abc`,
      'X-Linked-Size': String(file.bytes.length),
      'X-Linked-Etag': `"${file.lfs}"`,
    });
    response.end();
  }

  /** The model, if whoever asks may know of it; else the refusal has been sent. */
  #visible(request: IncomingMessage, response: ServerResponse, id: string, content: boolean): HeldModel | null {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null;
    const model = this.#models.get(id);
    const known = model !== undefined && (!model.private || (token !== null && model.allowed.has(token)));
    if (!known) {
      // Without a token nobody learns whether a model is private or absent.
      refuse(response, token === null ? 401 : 404, 'RepoNotFound', 'Repository not found');
      return null;
    }
    if (content && model.gated !== false && (token === null || !model.allowed.has(token))) {
      const message = `Access to model ${id} is restricted. You must be authenticated to access it.`;
      refuse(response, token === null ? 401 : 403, 'GatedRepo', message);
      return null;
    }
    return model;
  }

  #sendBlob(request: IncomingMessage, response: ServerResponse, hash: string, mishap: Mishap | null): void {
    const file = this.#byHash.get(hash);
    if (file === undefined) return refuse(response, 404, null, 'no such blob');
    sendRange(request, response, file.bytes, { ETag: `"${hash.slice(0, 32)}"`, 'Accept-Ranges': 'bytes' }, mishap);
  }
}

const address = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const commitNamed = (model: HeldModel, revision: string): string | null => {
  const named = model.refs.get(revision === 'HEAD' ? 'main' : revision);
  if (named !== undefined) return named;
  const starting = [...model.commits.keys()].filter((commit) => revision.length >= 7 && commit.startsWith(revision));
  return starting.length === 1 ? (starting[0] ?? null) : null;
};

const apiModel = (model: HeldModel, commit: string): object => {
  const files = model.commits.get(commit) ?? new Map<string, HeldFile>();
  const text = (name: string): Record<string, unknown> =>
    JSON.parse(files.get(name)?.bytes.toString() ?? '{}') as Record<string, unknown>;
  const { model_type, architectures } = text('config.json');
  const { chat_template } = text('tokenizer_config.json');
  return {
    ...{ _id: commit.slice(0, 24), id: model.id, modelId: model.id, sha: commit, private: model.private },
    ...{ gated: model.gated, downloads: model.downloads, likes: 0, lastModified: '2024-01-01T00:00:00.000Z' },
    ...{ pipeline_tag: 'text-generation', tags: chat_template === undefined ? [] : ['conversational'] },
    config: { model_type, architectures, tokenizer_config: { chat_template } },
    safetensors: countParameters(files),
    siblings: [...files.keys()].map((rfilename) => ({ rfilename })),
  };
};

const countParameters = (files: ReadonlyMap<string, HeldFile>): object | undefined => {
  const parameters: Record<string, number> = {};
  for (const { path, bytes } of files.values()) {
    if (!path.endsWith('.safetensors') || bytes.length < 8) continue;
    const length = Number(bytes.readBigUInt64LE(0));
    if (length > bytes.length - 8 || bytes[8] !== 0x7b) continue;
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString()) as Record<
      string,
      { dtype?: string; shape?: number[] }
    >;
    for (const { dtype, shape } of Object.values(header)) {
      if (dtype === undefined || shape === undefined) continue;
      parameters[dtype] = (parameters[dtype] ?? 0) + shape.reduce((product, size) => product * size, 1);
    }
  }
  const total = Object.values(parameters).reduce((sum, count) => sum + count, 0);
  return total === 0 ? undefined : { parameters, total };
};

const treeOf = (files: ReadonlyMap<string, HeldFile>, claims: HeldModel['claims']): object[] => {
  const folders = new Set(
    [...files.keys()].flatMap((name) => (name.includes('/') ? [name.replace(/\/[^/]*$/, '')] : [])),
  );
  return [
    ...[...folders].map((folder) => ({ type: 'directory', oid: '0'.repeat(40), size: 0, path: folder })),
    ...[...files.values()].map(({ path, bytes, oid, lfs }) => ({
      ...{ type: 'file', oid, size: claims[path] ?? bytes.length, path },
      ...(lfs === null
        ? {}
        : { lfs: { oid: lfs, size: claims[path] ?? bytes.length, pointerSize: 134 }, xetHash: lfs }),
    })),
  ];
};

const json = (request: IncomingMessage, response: ServerResponse, value: unknown, mishap: Mishap | null): void =>
  sendBytes(
    request,
    response,
    { status: 200, headers: { 'Content-Type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) },
    mishap,
  );

const refuse = (
  response: ServerResponse,
  status: number,
  code: string | null,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const named = code === null ? {} : { 'X-Error-Code': code, 'X-Error-Message': message };
  response.writeHead(status, { 'Content-Type': 'application/json', ...named, ...headers });
  response.end(JSON.stringify({ error: message }));
};

const page = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'text/html' });
  response.end('<!DOCTYPE html><html><body>Please log in to this network</body></html>');
};

const sendRange = (
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  headers: Record<string, string>,
  mishap: Mishap | null,
): void => {
  const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  if (asked === null || mishap?.kind === 'no-range') {
    return sendBytes(request, response, { status: 200, headers, body: bytes }, mishap);
  }
  const first = Number(asked[1]);
  const last = Math.min(asked[2] === '' ? bytes.length - 1 : Number(asked[2]), bytes.length - 1);
  if (first >= bytes.length) {
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${bytes.length}` });
    return void response.end();
  }
  const range = { 'Content-Range': `bytes ${first}-${last}/${bytes.length}` };
  const body = bytes.subarray(first, last + 1);
  sendBytes(request, response, { status: 206, headers: { ...headers, ...range }, body }, mishap);
};
