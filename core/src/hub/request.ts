import { setTimeout as delay } from 'node:timers/promises';
import { isKvadError, KvadError } from '../errors/kvad-error.js';
import { refusal, targetName, type HubTarget } from './refuse-status.js';
import type { HubSettings } from './settings.js';

/** A failure that may be gone at the next attempt. */
class Passing extends Error {
  constructor(
    /** What it is called when no attempt is left. */
    readonly final: KvadError,
    /** Milliseconds that the Hub asks to wait; null: it does not say. */
    readonly wait: number | null,
  ) {
    super(final.message);
  }
}

const ATTEMPTS = 5;
const FIRST_WAIT = 200;
/** A pause longer than this is told to the user instead. */
const LONGEST_WAIT = 60_000;
const REDIRECTS = 10;
const PASSING_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
/** As much of an error's body as is looked at. */
const MOST_ERROR_TEXT = 4096;

export interface HubRequestOptions {
  /** Ends what is under way and what comes. */
  readonly signal?: AbortSignal | undefined;
  /** Told before each pause between attempts. */
  readonly onWait?: ((reason: string, milliseconds: number) => void) | undefined;
}

/**
 * Requests to the Hub: never when offline, the token to the endpoint's own origin and no other, redirects followed by
 * hand for that reason, a connection that brings nothing for `patience` given up.
 */
export class HubRequests {
  readonly settings: HubSettings;
  readonly #options: HubRequestOptions;

  constructor(settings: HubSettings, options: HubRequestOptions = {}) {
    this.settings = settings;
    this.#options = options;
  }

  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  get host(): string {
    return new URL(this.settings.endpoint).host;
  }

  /**
   * Does `work`, again where it fails for a reason that passes (a cut connection, 429, 5xx), after growing pauses.
   * `work` may tell by `progress()` that it came further: the attempts are counted anew then.
   */
  async retrying<T>(target: HubTarget, work: (progress: () => void) => Promise<T>): Promise<T> {
    if (this.settings.offline) throw new KvadError('KVAD_E_HUB_OFFLINE', { what: targetName(target) });
    let left = ATTEMPTS;
    for (;;) {
      this.signal?.throwIfAborted();
      try {
        return await work(() => (left = ATTEMPTS));
      } catch (error) {
        this.signal?.throwIfAborted();
        const passing = this.#asPassing(target, error);
        left--;
        const wait = passing.wait ?? FIRST_WAIT * 2 ** (ATTEMPTS - 1 - left);
        if (left === 0 || wait > LONGEST_WAIT) throw passing.final;
        this.#options.onWait?.(passing.final.message, wait);
        await delay(wait, undefined, this.signal === undefined ? {} : { signal: this.signal });
      }
    }
  }

  /** What cannot pass is thrown as it is. */
  #asPassing(target: HubTarget, error: unknown): Passing {
    if (error instanceof Passing) return error;
    if (isKvadError(error)) throw error;
    const { host } = this;
    if (error instanceof SyntaxError) {
      const reason = `it is not JSON (${error.message})`;
      throw new KvadError('KVAD_E_HUB_ANSWER', { what: targetName(target), host, reason }, { cause: error });
    }
    const code = errnoOf(error);
    if (code !== null && LOCAL_ERRORS.has(code)) throw error;
    const reason = networkReason(error);
    return new Passing(new KvadError('KVAD_E_HUB_UNREACHABLE', { host, reason }, { cause: error }), null);
  }

  /** One attempt. Answers with success or the statuses of `also`; throws for all others, to be caught by `retrying`. */
  async fetch(target: HubTarget, url: string, init: RequestInit = {}, also: readonly number[] = []): Promise<Response> {
    if (this.settings.offline) throw new KvadError('KVAD_E_HUB_OFFLINE', { what: targetName(target) });
    let at = new URL(url);
    for (let hops = 0; hops <= REDIRECTS; hops++) {
      const headers = new Headers(init.headers);
      headers.delete('authorization');
      const token = this.#mayHaveToken(at) ? this.settings.token() : null;
      if (token !== null) headers.set('authorization', `Bearer ${token}`);
      headers.set('user-agent', 'kvad');
      const response = await this.#once(at, { ...init, headers, redirect: 'manual' });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || location === null) {
        if (response.ok || also.includes(response.status)) return response;
        throw await this.#refused(target, at, response, token !== null);
      }
      await response.body?.cancel();
      at = this.#redirected(target, at, location);
    }
    const reason = `it redirects more than ${REDIRECTS} times`;
    throw new KvadError('KVAD_E_HUB_ANSWER', { what: targetName(target), host: at.host, reason });
  }

  #mayHaveToken(url: URL): boolean {
    return url.origin === new URL(this.settings.endpoint).origin;
  }

  #redirected(target: HubTarget, from: URL, location: string): URL {
    const url = URL.canParse(location, from.href) ? new URL(location, from) : null;
    if (url !== null && /^https?:$/.test(url.protocol)) return url;
    const reason = `it redirects to ${JSON.stringify(location)}`;
    throw new KvadError('KVAD_E_HUB_ANSWER', { what: targetName(target), host: from.host, reason });
  }

  /** A request whose headers, and then each piece of its body, must come within `patience`. */
  async #once(url: URL, init: RequestInit): Promise<Response> {
    const stalled = new AbortController();
    const { patience } = this.settings;
    const watch = async <T>(work: Promise<T>): Promise<T> => {
      const timer = setTimeout(() => stalled.abort(new Stalled(patience)), patience);
      try {
        return await work;
      } catch (error) {
        throw stalled.signal.aborted ? stalled.signal.reason : error;
      } finally {
        clearTimeout(timer);
      }
    };
    const signals = this.signal === undefined ? [stalled.signal] : [stalled.signal, this.signal];
    const response = await watch(fetch(url.href, { ...init, signal: AbortSignal.any(signals) }));
    if (response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await watch(reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  }

  async #refused(target: HubTarget, url: URL, response: Response, token: boolean): Promise<Error> {
    const { status, headers } = response;
    const body = await firstText(response);
    const { endpoint } = this.settings;
    const error = refusal(target, { endpoint, host: url.host, status, headers, body, token });
    return PASSING_STATUS.has(status) ? new Passing(error, retryAfter(headers)) : error;
  }
}

class Stalled extends Error {
  constructor(patience: number) {
    super(`nothing came for ${patience / 1000} s`);
  }
}

const firstText = async (response: Response): Promise<string> => {
  if (response.body === null) return '';
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= MOST_ERROR_TEXT) break;
    }
  } catch {
    // Only the status is certain then; what came so far has to do.
  }
  return text.slice(0, MOST_ERROR_TEXT);
};

/** Seconds or a date, in milliseconds from now. */
const retryAfter = (headers: Headers): number | null => {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
};

/** Errors of this machine's disk: another attempt would not help. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EACCES', 'EPERM', 'EROFS', 'EDQUOT', 'EIO', 'ENOENT', 'EISDIR', 'ENOTDIR', 'EMFILE', 'EFBIG'],
]);

const errnoOf = (error: unknown): string | null => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : null;
};

/** `fetch failed` hides why: the cause says it. */
const networkReason = (error: unknown): string => {
  const reasons: string[] = [];
  for (let at: unknown = error; at instanceof Error && reasons.length < 4; at = at.cause) {
    const inner = at instanceof AggregateError ? at.errors.map(String).join('; ') : at.message;
    if (inner !== '') reasons.push(inner);
  }
  return reasons.at(-1) ?? String(error);
};
