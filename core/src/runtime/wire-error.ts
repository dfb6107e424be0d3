import { CATALOG, type ErrorCode, type ErrorParams } from '../errors/catalog.js';
import { isKvadError, KvadError } from '../errors/kvad-error.js';

/** An error on its way to another thread. */
export interface WireError {
  /** null: not one of the catalogue. */
  readonly kvad: { readonly code: string; readonly params: unknown } | null;
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
  readonly cause: WireError | null;
}

export const toWire = (error: unknown): WireError => {
  if (!(error instanceof Error)) {
    return { kvad: null, name: 'Error', message: String(error), stack: null, cause: null };
  }
  return {
    kvad: isKvadError(error) ? { code: error.code, params: plain(error.params) } : null,
    name: error.name,
    message: error.message,
    stack: error.stack ?? null,
    cause: error.cause === undefined ? null : toWire(error.cause),
  };
};

/** The same error in this thread: its code, parameters, hint, cause, and the stack of where it was thrown. */
export const fromWire = ({ kvad, name, message, stack, cause }: WireError): Error => {
  const options = cause === null ? {} : { cause: fromWire(cause) };
  const error =
    kvad !== null && kvad.code in CATALOG
      ? new KvadError(kvad.code as ErrorCode, kvad.params as ErrorParams<ErrorCode>, options)
      : Object.assign(new Error(message, options), { name });
  if (stack !== null) error.stack = stack;
  return error;
};

/** What a plugin puts into the parameters need not be data: that which is not becomes its text. */
const plain = (params: unknown): unknown => {
  try {
    return structuredClone(params);
  } catch {
    // A function or a handle among the values: JSON leaves those out and keeps the rest.
    return JSON.parse(JSON.stringify(params)) as unknown;
  }
};
