import type { MessagePort } from 'node:worker_threads';
import type { WireError } from '../../runtime/wire-error.js';
import type { SpecialTokens } from '../special-tokens.js';
import type { EncodeOptions } from '../types.js';
import type { StreamFacts } from './checked-tokenizer.js';

/** Which folder's tokenizer is to be served, and where it is asked. */
export interface TokenizerOrder {
  readonly directory: string;
  readonly port: MessagePort;
}

/** What is asked at the port; answers may come in any order. */
export interface Questions {
  open: { readonly request: null; readonly answer: OpenedTokenizer | null };
  encode: { readonly request: { readonly text: string; readonly options: EncodeOptions }; readonly answer: number[] };
  decode: {
    readonly request: { readonly ids: readonly number[]; readonly options: { readonly skipSpecial: boolean } };
    readonly answer: string;
  };
  /** Tokens of `count` ids from `first` on. */
  tokens: { readonly request: { readonly first: number; readonly count: number }; readonly answer: (string | null)[] };
  idOf: { readonly request: { readonly token: string }; readonly answer: number | null };
  join: { readonly request: { readonly tokens: readonly string[] }; readonly answer: string };
}

/** A tokenizer as data; null stands for a folder that has none. */
export interface OpenedTokenizer {
  readonly source: string;
  readonly tokens: SpecialTokens;
  readonly warnings: readonly string[];
  readonly vocabSize: number;
  readonly facts: StreamFacts;
}

export type Asked = {
  [Name in keyof Questions]: {
    readonly id: number;
    readonly name: Name;
    readonly request: Questions[Name]['request'];
    /** The asker's thread stands still until `flag[0]` is 1, which it becomes when the answer lies at the port. */
    readonly flag: Int32Array<SharedArrayBuffer> | null;
  };
}[keyof Questions];

export type Answered =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: WireError };
