import { stat } from 'node:fs/promises';
import type { TextSide } from '../text/types.js';
import { encodeElsewhere } from './encode-elsewhere.js';
import { readScoredText } from './scored-text.js';
import type { ScoringInput, TextInput } from './types.js';

export interface ScoringIds {
  readonly ids: Int32Array;
  /** The id that the vocabulary wants at the beginning of texts; null: none. */
  readonly bos: number | null;
}

/** Where a text's tokenizer is, and when to stop. */
export interface Encoding {
  readonly directory: string;
  readonly text: TextSide;
  readonly signal: AbortSignal;
}

/**
 * The ids of a run. A text is encoded once, without a template, and gets a BOS in front if the vocabulary asks for one;
 * special tokens written in it are text unless `parseSpecial`. Ids are taken as they are.
 */
export const scoringIds = async (input: ScoringInput, encoding: Encoding): Promise<ScoringIds> => {
  const begin = encoding.text.facts.bos;
  const bos = begin?.added === true ? begin.id : null;
  if ('ids' in input) return { ids: Int32Array.from(input.ids), bos };
  const ids = await encoded(input, encoding);
  if (bos === null) return { ids, bos };
  const withBos = new Int32Array(ids.length + 1);
  withBos[0] = bos;
  withBos.set(ids, 1);
  return { ids: withBos, bos };
};

/** Bytes, or characters, from which a text is worth a process of its own. */
const LONG = 2 ** 16;

const encoded = async (input: TextInput, { directory, text, signal }: Encoding): Promise<Int32Array> => {
  const elsewhere = (await sizeOf(input)) > LONG ? await encodeElsewhere(directory, input, signal) : null;
  if (elsewhere) return elsewhere;
  const content = 'text' in input ? input.text : await readScoredText(input.file);
  const options = { special: false, parseSpecial: input.parseSpecial ?? false, inPieces: true };
  return Int32Array.from(await text.tokenizer.encode(content, options));
};

/** A file that is not there has no size: reading it says so. */
const sizeOf = async (input: TextInput): Promise<number> =>
  'text' in input
    ? input.text.length
    : stat(input.file).then(
        ({ size }) => size,
        () => 0,
      );
