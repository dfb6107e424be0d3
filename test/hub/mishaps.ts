import type { IncomingMessage, ServerResponse } from 'node:http';

/** What goes wrong with an answer; each is used up by the requests that it hits. */
export type Mishap = {
  /** Part of the path that it is for: `model-00001`, `/api/models`. */
  readonly path: string;
  /** `files`: the host that large files lie on, to which `hub` redirects; absent: either. */
  readonly host?: 'hub' | 'files';
  /** How many requests it hits; absent: one. */
  times?: number;
} & (
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The connection ends after so many bytes of the body. */
  | { readonly kind: 'cut'; readonly after: number }
  /** After so many bytes nothing more comes, and the connection stays open. */
  | { readonly kind: 'stall'; readonly after: number }
  /** One byte of the content is another one. */
  | { readonly kind: 'wrong-byte'; readonly at: number }
  /** The range that was asked for is not looked at: all of the file comes. */
  | { readonly kind: 'no-range' }
  /** A page of HTML in place of the answer, with status 200. */
  | { readonly kind: 'page' }
  /** Called before the answer goes on; for what a test does meanwhile. */
  | { readonly kind: 'meanwhile'; readonly act: () => void | Promise<void> }
);

export const takeMishap = (mishaps: readonly Mishap[], at: 'hub' | 'files', url: string): Mishap | null => {
  const found = mishaps.find(({ path, host = at, times = 1 }) => url.includes(path) && host === at && times > 0);
  if (found === undefined) return null;
  found.times = (found.times ?? 1) - 1;
  return found;
};

/** Sends bytes with a mishap on the way. */
export const sendBytes = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: { status: number; headers: Record<string, string>; body: Buffer },
  mishap: Mishap | null,
): void => {
  response.writeHead(status, { ...headers, 'Content-Length': String(body.length) });
  if (request.method === 'HEAD') return void response.end();
  if (mishap?.kind === 'cut') {
    response.write(body.subarray(0, mishap.after), () => request.socket.destroy());
  } else if (mishap?.kind === 'stall') {
    response.write(body.subarray(0, mishap.after));
  } else if (mishap?.kind === 'wrong-byte') {
    const wrong = Buffer.from(body);
    wrong[mishap.at] = (wrong[mishap.at] ?? 0) ^ 0xff;
    response.end(wrong);
  } else {
    response.end(body);
  }
};
