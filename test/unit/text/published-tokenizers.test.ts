import { loadText, type TextSide } from '@kvad/core';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from './folders.js';

/**
 * Ids, text and stream pieces of published tokenizers, as the Rust library gives them. Their vocabularies are not ours to
 * copy: they lie beside the repository, and where they do not, the suites' names say so.
 */
const FOLDER = fileURLToPath(new URL('../../../../shared/fixtures/tokenizers/', import.meta.url));
const PRESENT = existsSync(FOLDER);

/** Those whose tokenizer.json is there; the variants are GPT-2's with parts replaced. */
const NAMES = [
  ...['gpt2', 'qwen2_5', 'deepseek_v4', 'mistral_v3', 'unigram_t5', 'minilm'],
  ...['variant_added_flags', 'variant_bloom', 'variant_deepseek_coder', 'variant_falcon'],
  ...['variant_gpt_neox', 'variant_roberta'],
];

interface Golden {
  readonly source: { readonly file?: string; readonly base?: string; readonly patch?: object };
  readonly vocab_size: number;
  readonly cases: readonly {
    readonly string: string;
    readonly ids: readonly number[];
    readonly ids_special?: readonly number[];
    readonly decoded?: string;
    readonly decoded_all?: string;
  }[];
  readonly streams: readonly {
    readonly ids: readonly number[];
    readonly skip_special_tokens: boolean;
    readonly text: string;
    readonly chunks: readonly (string | null)[];
  }[];
}

const read = <T>(name: string): T => JSON.parse(readFileSync(`${FOLDER}${name}.json`, 'utf8')) as T;

const tokenizerOf = ({ source }: Golden): string => {
  const file = source.file ?? read<Golden>(source.base as string).source.file;
  const text = gunzipSync(readFileSync(`${FOLDER}${file}`)).toString('utf8');
  return source.patch === undefined ? text : JSON.stringify({ ...(JSON.parse(text) as object), ...source.patch });
};

describe.skipIf(!PRESENT)(`published tokenizers${PRESENT ? '' : ' (needs ../shared/fixtures/tokenizers)'}`, () => {
  const folders: string[] = [];
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  describe.each(NAMES)('%s', (name) => {
    let golden: Golden;
    let strings: ReadonlyMap<string, string>;
    let text: TextSide;
    beforeAll(async () => {
      golden = read(name);
      const list = read<{ strings: { id: string; text: string }[] }>('strings').strings;
      strings = new Map(list.map(({ id, text: content }) => [id, content]));
      const folder = makeFolder({ 'tokenizer.json': tokenizerOf(golden) });
      folders.push(folder);
      text = await loadText(folder);
    });

    it('gives the ids of every string, with and without special tokens', async () => {
      const got = [];
      for (const one of golden.cases) {
        const string = strings.get(one.string) as string;
        const ids = await text.tokenizer.encode(string, { special: false });
        const special = await text.tokenizer.encode(string, { special: true });
        got.push({ string: one.string, ids, special });
      }
      expect(got).toEqual(
        golden.cases.map(({ string, ids, ids_special: special }) => ({ string, ids, special: special ?? ids })),
      );
      expect(text.tokenizer.vocabSize).toBe(golden.vocab_size);
    });

    it('decodes them, all at once and as a stream', async () => {
      for (const one of golden.cases) {
        const ids = one.ids_special ?? one.ids;
        const decoded = one.decoded ?? strings.get(one.string);
        for (const [skipSpecial, expected] of [
          [true, decoded],
          [false, one.decoded_all ?? decoded],
        ] as const) {
          expect(await text.tokenizer.decode(ids, { skipSpecial }), one.string).toBe(expected);
          const stream = text.tokenizer.stream({ skipSpecial });
          const chunks = ids.map((id) => stream.push(id));
          expect(chunks.join('') + stream.end(), one.string).toBe(expected);
        }
      }
    });

    it('gives the pieces of streams where the library gives them', () => {
      for (const { ids, skip_special_tokens: skipSpecial, chunks } of golden.streams) {
        const stream = text.tokenizer.stream({ skipSpecial });
        expect(ids.map((id) => stream.push(id))).toEqual(chunks.map((chunk) => chunk ?? ''));
        expect(stream.end()).toBe('');
      }
    });
  });
});
