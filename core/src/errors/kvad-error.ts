import { CATALOG, type ErrorCode, type ErrorParams } from './catalog.js';

/** Every error that reaches a user: a code, one sentence with value and file, one hint. */
export class KvadError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'KvadError';
  readonly $$type = 'kvad.error';
  readonly code: C;
  readonly params: ErrorParams<C>;
  readonly hint: string;

  constructor(code: C, params: ErrorParams<C>, options?: { cause?: unknown }) {
    const entry = CATALOG[code] as CatalogEntryOf<C>;
    super(entry.message(params), options);
    this.code = code;
    this.params = params;
    this.hint = entry.hint(params);
  }

  get docs(): string {
    return `docs/errors.md#${this.code.toLowerCase()}`;
  }
}

interface CatalogEntryOf<C extends ErrorCode> {
  message(params: ErrorParams<C>): string;
  hint(params: ErrorParams<C>): string;
}

/** Recognises an error of any copy of this package. */
export const isKvadError = (error: unknown): error is KvadError =>
  error instanceof Error && (error as { $$type?: unknown }).$$type === 'kvad.error';
