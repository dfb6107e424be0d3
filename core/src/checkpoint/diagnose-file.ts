import { KvadError } from '../errors/kvad-error.js';
import type { ByteSource } from './read.js';

/** What stands in a file that is not safetensors, and what to do about it. */
interface Foreign {
  readonly looksLike: string;
  readonly action: string;
}

interface Signature extends Foreign {
  matches(start: Uint8Array, text: string): boolean;
}

const LOOKED_AT_BYTES = 4096;

const begins = (start: Uint8Array, ...bytes: number[]): boolean => bytes.every((byte, i) => start[i] === byte);

const SIGNATURES: readonly Signature[] = [
  {
    looksLike: 'a Git LFS pointer, not the file itself',
    action: 'run git lfs pull in that folder, or download the file itself',
    matches: (_, text) => text.startsWith('version https://git-lfs'),
  },
  {
    looksLike: 'a web page that was saved under this name',
    action: 'the model is probably gated: accept its terms on its page, set HF_TOKEN and download it again',
    matches: (_, text) => /^\s*<(!doctype|html|head|\?xml)/i.test(text),
  },
  {
    looksLike: 'a zip archive, as PyTorch saves its pickles',
    action: 'kvad runs no pickle; convert it with save_pretrained(..., safe_serialization=True) of transformers',
    matches: (start) => begins(start, 0x50, 0x4b, 0x03, 0x04) || begins(start, 0x50, 0x4b, 0x05, 0x06),
  },
  {
    looksLike: 'a PyTorch pickle',
    action: 'kvad runs no pickle; convert it with save_pretrained(..., safe_serialization=True) of transformers',
    matches: (start) => start[0] === 0x80 && (start[1] ?? 0) >= 2 && (start[1] ?? 0) <= 5,
  },
  {
    looksLike: 'a GGUF file',
    action: 'kvad reads safetensors: take the repository of the original model that this file was made from',
    matches: (_, text) => text.startsWith('GGUF'),
  },
  {
    looksLike: 'an answer of a server in JSON, not weights',
    action: 'read what it says, then download the file again',
    matches: (_, text) => /^\s*\{\s*"(error|message|detail|code)"/i.test(text),
  },
  {
    looksLike: 'nothing but zeros, as a download leaves it that was cut after its space was reserved',
    action: 'download the file again',
    matches: (start) => start.length > 0 && start.every((byte) => byte === 0),
  },
];

/** Throws KVAD_E_SAFETENSORS_FOREIGN if the first bytes are those of another format; returns if they tell nothing. */
export const refuseForeignFile = (source: ByteSource): void => {
  const { file, size } = source;
  const start = source.read(0, Math.min(size, LOOKED_AT_BYTES));
  const text = new TextDecoder('latin1').decode(start);
  const foreign: Foreign | undefined =
    size === 0
      ? { looksLike: 'empty', action: 'download the file again' }
      : SIGNATURES.find((signature) => signature.matches(start, text));
  if (foreign === undefined) return;
  const { looksLike, action } = foreign;
  throw new KvadError('KVAD_E_SAFETENSORS_FOREIGN', { file, looksLike, action });
};
