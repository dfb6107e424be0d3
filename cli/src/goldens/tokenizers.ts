import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadText, type TextOptions, type Tokenizer } from '@kvad/core';
import { Tally, type GoldensReport } from './report.js';
import { TokenizerFiles } from './tokenizer-files.js';
import { isGolden, type TokenizerCase, type TokenizerGolden, type TokenizerStream } from './tokenizer-golden.js';

const STRINGS = 'strings.json';

export const isTokenizersFolder = (dir: string): boolean =>
  readdirSync(dir).includes(STRINGS) && goldensIn(dir).length > 0;

export interface TokenizerGoldensOptions {
  /** Only the tokenizers of these names. */
  readonly names?: readonly string[];
  /** Packages that a golden names, and that are not there, are fetched with npm. */
  readonly fetch?: boolean;
  /** Which library reads the files. */
  readonly library?: TextOptions['tokenizerLibrary'];
}

/** Ids, decoded text and pieces of streams against those of the Rust library. */
export const tokenizerGoldens = async (
  dir: string,
  { names, fetch = false, library }: TokenizerGoldensOptions = {},
): Promise<GoldensReport> => {
  const tally = new Tally();
  const files = new TokenizerFiles(dir, { fetch });
  const strings = stringsOf(dir);
  for (const golden of goldensIn(dir)) {
    if (names !== undefined && !names.includes(golden.name)) continue;
    const found = await files.of(golden);
    if ('absent' in found) {
      tally.notRun(golden.name, found.absent);
      continue;
    }
    const folder = mkdtempSync(path.join(tmpdir(), 'kvad-goldens-'));
    try {
      writeFileSync(path.join(folder, 'tokenizer.json'), found.text);
      const { tokenizer } = await loadText(folder, library === undefined ? {} : { tokenizerLibrary: library });
      await compare(golden, tokenizer, strings, tally);
    } catch (error) {
      tally.refused(golden.name, error);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return tally.report(dir, 'tokenizers');
};

/** In the order of their names. */
const goldensIn = (dir: string): TokenizerGolden[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.json') && name !== STRINGS)
    .sort()
    .map((name) => JSON.parse(readFileSync(path.join(dir, name), 'utf8')) as unknown)
    .filter(isGolden);

const stringsOf = (dir: string): ReadonlyMap<string, string> => {
  const { strings } = JSON.parse(readFileSync(path.join(dir, STRINGS), 'utf8')) as {
    strings: { id: string; text: string }[];
  };
  return new Map(strings.map(({ id, text }) => [id, text]));
};

const compare = async (
  golden: TokenizerGolden,
  tokenizer: Tokenizer,
  strings: ReadonlyMap<string, string>,
  tally: Tally,
): Promise<void> => {
  tally.same(`${golden.name} vocab_size`, golden.vocab_size, tokenizer.vocabSize);
  for (const one of golden.cases) {
    const text = strings.get(one.string);
    if (text === undefined) tally.refused(`${golden.name} ${one.string}`, `${STRINGS} has no such string`);
    else await compareString(`${golden.name} ${one.string}`, one, text, tokenizer, tally);
  }
  golden.streams.forEach((stream, index) => {
    compareStream(`${golden.name} stream ${index}`, stream, tokenizer, tally);
  });
};

const compareString = async (
  id: string,
  one: TokenizerCase,
  text: string,
  tokenizer: Tokenizer,
  tally: Tally,
): Promise<void> => {
  const special = one.ids_special ?? one.ids;
  const decoded = one.decoded ?? text;
  const decodedAll = one.decoded_all ?? decoded;
  await tally.answer(`${id} ids`, one.ids, () => tokenizer.encode(text, { special: false }));
  await tally.answer(`${id} ids_special`, special, () => tokenizer.encode(text, { special: true }));
  for (const [name, skipSpecial, expected] of [
    ['decoded', true, decoded],
    ['decoded_all', false, decodedAll],
  ] as const) {
    await tally.answer(`${id} ${name}`, expected, () => tokenizer.decode(special, { skipSpecial }));
    await tally.answer(`${id} ${name} streamed`, expected, () => {
      const stream = tokenizer.stream({ skipSpecial });
      return special.map((token) => stream.push(token)).join('') + stream.end();
    });
  }
};

/** An empty piece is one that the library held back. */
const compareStream = (
  id: string,
  { ids, skip_special_tokens: skipSpecial, text, chunks }: TokenizerStream,
  tokenizer: Tokenizer,
  tally: Tally,
): void => {
  const stream = tokenizer.stream({ skipSpecial });
  const pieces = ids.map((token) => stream.push(token));
  const whole = pieces.join('') + stream.end();
  tally.same(
    `${id} chunks`,
    chunks.map((chunk) => chunk ?? ''),
    pieces,
  );
  tally.same(`${id} text`, text, whole);
};
