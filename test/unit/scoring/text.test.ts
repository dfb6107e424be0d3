import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadText, type TextSide } from '@kvad/core';
import { createEngine, type Engine, type LoadedModel, type PerplexityRequest, type PerplexityResult } from 'kvad';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeElsewhere } from '../../../core/dist/scoring/encode-elsewhere.js';
import { encodePieces } from '../../../core/dist/text/tokenizer/encode-pieces.js';
import { makeFolder } from '../text/folders.js';
import { byteFallbackTokenizer } from '../text/vocabularies.js';
import { BUNDLED, SCORING } from './scoring-goldens.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-scored-text-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const heldOut = readFileSync(path.join(SCORING, '../bundled/sample-heldout.txt'), 'utf8');

describe('a long text, encoded in pieces, has the ids of the whole', () => {
  const sides: Record<string, TextSide> = {};
  const fallback = makeFolder({ 'config.json': { model_type: 'x' }, 'tokenizer.json': byteFallbackTokenizer() });
  beforeAll(async () => {
    sides['byte-level'] = await loadText(BUNDLED);
    sides['byte fallback'] = await loadText(fallback);
  });
  afterAll(() => rmSync(fallback, { recursive: true }));

  /** Longer than two pieces of 2^15. */
  const LENGTH = 70_000;
  const filled = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length));
  /** Words of which a border cuts each in some text: 31 characters in turn, which no power of two is a multiple of. */
  const words = filled('ten sent entente, 你 tents.\n 🙂 e\u0301 ');

  it.each([
    ['stories', heldOut.slice(0, LENGTH)],
    ['words', words],
    ['words, shifted', `x${words}`],
    ['a run of one letter', `ten ${filled('n')} ten`],
    ['spaces', `ten${filled(' ')}ten`],
    ['characters of two code units, with a border inside one', `t${filled('🙂')}`],
    ['no spaces', filled('entnten')],
  ])('%s', async (_, text) => {
    for (const [name, { tokenizer }] of Object.entries(sides)) {
      const whole = await tokenizer.encode(text, { special: false });
      const pieces = await tokenizer.encode(text, { special: false, inPieces: true });
      expect(pieces.length, name).toBe(whole.length);
      expect(
        pieces.findIndex((id, index) => id !== whole[index]),
        name,
      ).toBe(-1);
    }
  });

  it('pieces that disagree at a border give way to the whole', async () => {
    /** Threes counted from the end, as right-to-left grouping of digits does: where a piece ends decides its tokens. */
    const fromTheEnd = (piece: string) => {
      const first = piece.length % 3;
      const starts = [
        ...(first ? [0] : []),
        ...Array.from({ length: Math.floor(piece.length / 3) }, (_, i) => first + 3 * i),
      ];
      const place = (token: number) => [starts[token]!, starts[token + 1] ?? piece.length] as const;
      return Promise.resolve({ ids: starts.map((start, token) => place(token)[1] - start), place });
    };
    expect(await encodePieces('1'.repeat(100_000), fromTheEnd)).toBeNull();
  });
});

describe('the ids of a run', () => {
  let engine: Engine;
  let model: LoadedModel;
  beforeAll(async () => {
    engine = createEngine({ env: {} });
    model = await engine.load(BUNDLED, { quant: 'f32', kvCacheDtype: 'f32' });
  });
  afterAll(() => engine.close());

  const score = (input: PerplexityRequest['input'], more: Partial<PerplexityRequest> = {}): Promise<PerplexityResult> =>
    model.perplexity({ input, ctx: 16, chunks: 1, tokenIds: true, ...more });
  const file = (name: string, content: string | Buffer): { file: string } => {
    writeFileSync(path.join(scratch, name), content);
    return { file: path.join(scratch, name) };
  };
  const TEXT = `${heldOut.slice(0, 300)} <|endoftext|> `;

  it('of a long file are encoded by another process, and are the same', async () => {
    const result = await score(file('long.txt', heldOut));
    expect([...result.ids!]).toEqual(await model.encode(heldOut.replace(/\n$/, ''), { special: false }));
    const again = await score({ text: heldOut.replace(/\n$/, '') });
    expect(again.tokenIdsSha256).toBe(result.tokenIdsSha256);
  });

  it('come from that process: where it fails there are none, and an abort ends it', async () => {
    const { signal } = new AbortController();
    const ids = await encodeElsewhere(BUNDLED, { text: TEXT }, signal);
    expect([...ids!]).toEqual([...(await score({ text: TEXT })).ids!]);
    expect(await encodeElsewhere(scratch, { text: TEXT }, signal)).toBeNull();
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const encoding = encodeElsewhere(BUNDLED, { text: TEXT }, controller.signal);
    controller.abort(reason);
    await expect(encoding).rejects.toBe(reason);
  });

  it('are given when they are asked for', async () => {
    expect((await score({ text: TEXT }, { tokenIds: false })).ids).toBeNull();
  });

  it('one newline at the end of a file is dropped, no more', async () => {
    const [plain, one, two] = [
      await score(file('0.txt', 'A fox. '.repeat(20))),
      await score(file('1.txt', `${'A fox. '.repeat(20)}\n`)),
      await score(file('2.txt', `${'A fox. '.repeat(20)}\n\n`)),
    ];
    expect(one.tokenIdsSha256).toBe(plain.tokenIdsSha256);
    expect(two.tokens).toBe(plain.tokens + 1);
  });

  it('special tokens in a text are text, unless parseSpecial', async () => {
    const special = 0; // <|endoftext|>
    expect([...(await score({ text: TEXT })).ids!]).not.toContain(special);
    expect([...(await score({ text: TEXT, parseSpecial: true })).ids!]).toContain(special);
  });

  it('a file that is not UTF-8, or not there, is refused', async () => {
    await expect(score(file('bad.txt', Buffer.from([0x61, 0xff, 0x62])))).rejects.toMatchObject({
      code: 'KVAD_E_INPUT_SHAPE',
    });
    await expect(score({ file: path.join(scratch, 'absent.txt') })).rejects.toMatchObject({ code: 'KVAD_E_FILE' });
    await expect(score({ file: scratch })).rejects.toMatchObject({ code: 'KVAD_E_FILE' });
  });
});

describe('where the vocabulary asks for a BOS', () => {
  const folder = makeFolder({});
  let engine: Engine;
  let model: LoadedModel;
  beforeAll(async () => {
    for (const from of [`${SCORING}/model`, `${SCORING}/tokenizer-bos`]) {
      for (const name of ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json']) {
        const source = path.join(from, name);
        if (existsSync(source)) writeFileSync(path.join(folder, name), readFileSync(source));
      }
    }
    engine = createEngine({ env: {} });
    model = await engine.load(folder, { quant: 'f32', kvCacheDtype: 'f32' });
  });
  afterAll(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  it('it stands once in front of the text, and is the first input of each window, never a target', async () => {
    const text = heldOut.slice(0, 400);
    const plain = await model.encode(text, { special: false });
    const result = await model.perplexity({ input: { text }, ctx: 17, tokenIds: true });
    expect(result.bos).toBe(0);
    expect([...result.ids!]).toEqual([0, ...plain]);
    const second = result.windows[1]!;
    expect([second.begin, second.firstTarget, second.scored]).toEqual([17, 17 + 9, 8]);
    const session = await model.session();
    const logits = await session.prefill([0, ...result.ids!.slice(18, 34)], { logits: 'all' });
    const vocab = logits.length / 17;
    let sum = 0;
    for (let row = 8; row < 16; row++) {
      const values = logits.slice(row * vocab, (row + 1) * vocab);
      const total = values.reduce((all, logit) => all + Math.exp(logit), 0);
      sum += Math.log(total) - values[result.ids![17 + row + 1]!]!;
    }
    expect(second.nllSum).toBeCloseTo(sum, 5);
  });

  it('of ids that are given nothing is put in front, and each window begins with it', async () => {
    const ids = (await model.encode(heldOut.slice(0, 400), { special: false })).slice(0, 34);
    const given = await model.perplexity({ input: { ids }, ctx: 17, tokenIds: true });
    expect([...given.ids!]).toEqual(ids);
    const replaced = await model.perplexity({ input: { ids: ids.with(0, 0).with(17, 0) }, ctx: 17 });
    expect(given.windows.map(({ nllSum }) => nllSum)).toEqual(replaced.windows.map(({ nllSum }) => nllSum));
    expect(given.tokenIdsSha256).not.toBe(replaced.tokenIdsSha256);
  });

  it('a sliding window keeps its ids', async () => {
    const ids = (await model.encode(heldOut.slice(0, 400), { special: false })).slice(0, 34);
    const request: PerplexityRequest = { input: { ids }, method: 'sliding', ctx: 17 };
    const given = await model.perplexity(request);
    const replaced = await model.perplexity({ ...request, input: { ids: ids.with(17, 0) } });
    expect(given.windows[1]!.nllSum).not.toBe(replaced.windows[1]!.nllSum);
  });
});
