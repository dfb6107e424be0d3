import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PerplexityRequest } from 'kvad';
import { afterAll, describe, expect, it } from 'vitest';
import type { Protocol } from '../../../core/dist/scoring/base.js';
import { baseHeader, encodeHeader } from '../../../core/dist/scoring/base-header.js';
import { hashIds } from '../../../core/dist/scoring/int32-bytes.js';
import { openBase } from '../../../core/dist/scoring/open-base.js';
import { topkRowBytes } from '../../../core/dist/scoring/topk-format.js';
import { idsOf, VOCAB } from '../runtime/toy.js';
import { errorOf } from '../text/folders.js';
import { toyModels } from './toy-runs.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-bases-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const at = (name: string): string => path.join(scratch, name);

const models = toyModels({ toy: {}, broken: { fault: 'nan' } });
const ids = idsOf(64);
const CHUNKS: PerplexityRequest = { input: { ids }, ctx: 8 };
const SLIDING: PerplexityRequest = { input: { ids }, method: 'sliding', ctx: 8, stride: 4 };

let files = 0;
/** A base of the toy model. */
const written = async (request: PerplexityRequest, format: 'topk' | 'full' = 'topk'): Promise<string> => {
  const file = at(`${files++}.kld`);
  await models.toy.perplexity({ ...request, kldBaseOut: { file, format } });
  return file;
};

const other = (what: string, base: string, run: string, hint?: string) => ({
  code: 'KVAD_E_KLD_BASE_OTHER',
  params: { what, base, run },
  ...(hint === undefined ? {} : { hint }),
});
const otherIds = ids.with(9, (ids[9]! + 1) % VOCAB);

describe('a base of another run is refused by the name of what differs', () => {
  it.each<[string, PerplexityRequest, PerplexityRequest, object]>([
    ['method', CHUNKS, { ...CHUNKS, method: 'sliding' }, other('method', 'chunks', 'sliding', 'pass --method chunks')],
    ['ctx', CHUNKS, { ...CHUNKS, ctx: 9 }, other('ctx', '8', '9', 'pass --ctx 8')],
    ['stride', SLIDING, { ...SLIDING, stride: 5 }, other('stride', '4', '5', 'pass --stride 4')],
    ['chunks', { ...CHUNKS, chunks: 3 }, CHUNKS, other('number of chunks', '3', '8', 'pass --chunks 3')],
    ['fewer chunks', CHUNKS, { ...CHUNKS, chunks: 3 }, other('number of chunks', '8', '3')],
    ['tokens', CHUNKS, { ...CHUNKS, input: { ids: [...ids, 1] } }, other('number of tokens', '64', '65')],
    [
      'ids',
      CHUNKS,
      { ...CHUNKS, input: { ids: otherIds } },
      other('hash of token ids', hashIds(Int32Array.from(ids)), hashIds(Int32Array.from(otherIds))),
    ],
  ])('%s', async (_, base, run, expected) => {
    await expect(models.toy.perplexity({ ...run, kld: await written(base) })).rejects.toMatchObject(expected);
  });

  it('a limit that leaves the same windows is no difference', async () => {
    const kld = await written({ ...CHUNKS, chunks: 8 });
    expect((await models.toy.perplexity({ ...CHUNKS, kld })).kld!.meanKld).toBeLessThan(1e-9);
  });

  it.each<[string, PerplexityRequest, object]>([
    ['method', SLIDING, other('method', 'chunks', 'sliding')],
    ['ctx', { ...CHUNKS, ctx: 9 }, other('ctx', '8', '9')],
    ['chunks', { ...CHUNKS, chunks: 3 }, other('number of chunks', '8', '3')],
    ['ids', { ...CHUNKS, input: { ids: otherIds } }, other('token ids', `${ids[9]} at place 9`, `${otherIds[9]}`)],
  ])('llama.cpp’s format: %s', async (_, run, expected) => {
    const kld = await written(CHUNKS, 'full');
    await expect(models.toy.perplexity({ ...run, kld })).rejects.toMatchObject(expected);
  });

  const protocol: Protocol = {
    ...{ method: 'chunks', ctx: 8, stride: null, chunks: null, windows: 1, scoredTokens: 3, bos: null },
    ids: Int32Array.from(ids.slice(0, 8)),
    idsSha256: hashIds(Int32Array.from(ids.slice(0, 8))),
    vocabSize: VOCAB,
    vocabularySha256: 'abc',
  };
  const model = { directory: 'm', fingerprint: 'f', quant: null, kvCacheDtype: 'f32', kernels: 'avx2' };
  const baseOf = (own: Protocol): string => {
    const file = at(`${files++}.kld`);
    writeFileSync(file, Buffer.concat([encodeHeader(baseHeader(own, 2, model)), Buffer.alloc(3 * topkRowBytes(2))]));
    return file;
  };

  it.each<[Partial<Protocol>, object]>([
    [{ vocabSize: 33 }, other('vocabulary size', '33', '32')],
    [{ vocabularySha256: 'abd' }, other('vocabulary', 'abd', 'abc')],
    [{ bos: 1 }, other('BOS', '1', 'none')],
    [{ scoredTokens: 4 }, other('number of scored tokens', '4', '3')],
  ])('another vocabulary or BOS: %j', async (difference, expected) => {
    const file = baseOf({ ...protocol, ...difference });
    expect(await errorOf(() => openBase(file, protocol))).toMatchObject(expected);
    openBase(baseOf(protocol), protocol).close();
  });

  it('another model or precision only informs', () => {
    const base = openBase(baseOf(protocol), protocol);
    expect(base.model).toEqual(model);
    base.close();
  });

  it('a vocabulary of which one side knows nothing is taken', () => {
    openBase(baseOf({ ...protocol, vocabularySha256: null }), protocol).close();
  });
});

describe('a file that is no whole base is refused', () => {
  const spoil = async (format: 'topk' | 'full', act: (bytes: Buffer) => Buffer): Promise<string> => {
    const file = await written(CHUNKS, format);
    writeFileSync(file, act(readFileSync(file)));
    return file;
  };
  const set =
    (offset: number, value: number) =>
    (bytes: Buffer): Buffer => {
      bytes.writeInt32LE(value, offset);
      return bytes;
    };

  it.each<[string, 'topk' | 'full', (bytes: Buffer) => Buffer, string]>([
    ['one byte less', 'topk', (bytes) => bytes.subarray(0, -1), 'KVAD_E_KLD_BASE_TRUNCATED'],
    ['one byte less', 'full', (bytes) => bytes.subarray(0, -1), 'KVAD_E_KLD_BASE_TRUNCATED'],
    ['cut in the header', 'topk', (bytes) => bytes.subarray(0, 40), 'KVAD_E_KLD_BASE_TRUNCATED'],
    ['cut in the ids', 'full', (bytes) => bytes.subarray(0, 60), 'KVAD_E_KLD_BASE_TRUNCATED'],
    ['cut behind the magic', 'topk', (bytes) => bytes.subarray(0, 8), 'KVAD_E_KLD_BASE_TRUNCATED'],
    ['nothing', 'topk', () => Buffer.alloc(0), 'KVAD_E_KLD_BASE_INVALID'],
    ['bytes behind the last row', 'topk', (bytes) => Buffer.concat([bytes, bytes]), 'KVAD_E_KLD_BASE_INVALID'],
    ['bytes behind the last row', 'full', (bytes) => Buffer.concat([bytes, bytes]), 'KVAD_E_KLD_BASE_INVALID'],
    ['another version', 'topk', set(8, 2), 'KVAD_E_KLD_BASE_VERSION'],
    ['a header of 2^31 bytes', 'topk', set(12, 2 ** 31 - 1), 'KVAD_E_KLD_BASE_TRUNCATED'],
    ['a header that is no JSON', 'topk', set(16, 0), 'KVAD_E_KLD_BASE_INVALID'],
    ['a ctx below 0', 'full', set(8, -1), 'KVAD_E_KLD_BASE_INVALID'],
    ['no chunks', 'full', set(16, 0), 'KVAD_E_KLD_BASE_INVALID'],
    ['a text', 'topk', () => Buffer.from('once upon a time'), 'KVAD_E_KLD_BASE_INVALID'],
  ])('%s (%s)', async (_, format, act, code) => {
    const kld = await spoil(format, act);
    await expect(models.toy.perplexity({ ...CHUNKS, kld })).rejects.toMatchObject({ code, params: { file: kld } });
  });

  it.each([
    ['does not exist', at('absent.kld')],
    ['is a folder', scratch],
  ])('a base that %s', async (_, kld) => {
    await expect(models.toy.perplexity({ ...CHUNKS, kld })).rejects.toMatchObject({ code: 'KVAD_E_FILE' });
  });

  it('a base that shrinks while it is read', async () => {
    const many: PerplexityRequest = { input: { ids: idsOf(4096) }, ctx: 64 };
    const kld = await written(many);
    const onProgress = ({ windowsDone }: { windowsDone: number }): void => {
      if (windowsDone === 1) truncateSync(kld, 2000);
    };
    const run = models.toy.perplexity({ ...many, kld }, { onProgress });
    await expect(run).rejects.toMatchObject({ code: 'KVAD_E_KLD_BASE_TRUNCATED' });
  });
});

describe('a base that is written', () => {
  it('holds 264 bytes a token at k = 32', async () => {
    const file = await written(CHUNKS);
    const bytes = readFileSync(file);
    const header = 16 + bytes.readUInt32LE(12);
    expect((bytes.length - header) / (8 * 3)).toBe(264);
    expect(JSON.parse(bytes.toString('utf8', 16, header))).toMatchObject({
      ...{ tokens: 64, method: 'chunks', ctx: 8, stride: null, chunks: null, bos: null, top_k: 32, vocab_size: VOCAB },
      model: { quant: null, kv_cache_dtype: 'f32' },
    });
  });

  it.each(['topk', 'full'] as const)(
    'does not take the place of one that exists, except with force: %s',
    async (format) => {
      const file = at(`kept-${format}.kld`);
      writeFileSync(file, 'mine');
      const output = { file, format } as const;
      await expect(models.toy.perplexity({ ...CHUNKS, kldBaseOut: output })).rejects.toMatchObject({
        code: 'KVAD_E_KLD_BASE_EXISTS',
        params: { file },
      });
      expect(readFileSync(file, 'utf8')).toBe('mine');
      await models.toy.perplexity({ ...CHUNKS, kldBaseOut: { ...output, force: true } });
      expect((await models.toy.perplexity({ ...CHUNKS, kld: file })).kld!.sameTop).toBe(1);
    },
  );

  it('is not left half written by a run that fails, and an existing one stays', async () => {
    const file = at('failed.kld');
    writeFileSync(file, 'mine');
    const bad: PerplexityRequest = { ...CHUNKS, input: { ids: ids.with(60, 13) } };
    const run = models.broken.perplexity({ ...bad, kldBaseOut: { file, force: true } });
    await expect(run).rejects.toMatchObject({ code: 'KVAD_E_NAN' });
    expect([readFileSync(file, 'utf8'), existsSync(`${file}.partial`)]).toEqual(['mine', false]);
  });

  it('cannot be written where there is no folder', async () => {
    const file = at('nowhere/base.kld');
    await expect(models.toy.perplexity({ ...CHUNKS, kldBaseOut: { file } })).rejects.toMatchObject({
      code: 'KVAD_E_FILE',
      params: { action: 'write', file },
    });
  });
});

describe('a request that cannot be meant is refused', () => {
  it.each<[Partial<PerplexityRequest>, string]>([
    [{ ctx: 2 }, 'KVAD_E_OPTION'],
    [{ ctx: 7.5 }, 'KVAD_E_OPTION'],
    [{ ctx: 257, input: { ids: idsOf(600) } }, 'KVAD_E_SCORING_CONTEXT'],
    [{ ctx: 33 }, 'KVAD_E_SCORING_TEXT_SHORT'],
    [{ chunks: 0 }, 'KVAD_E_OPTION'],
    [{ stride: 4 }, 'KVAD_E_OPTION'],
    [{ method: 'sliding', stride: 9 }, 'KVAD_E_OPTION'],
    [{ method: 'strided' as never }, 'KVAD_E_OPTION'],
    [{ kldBaseOut: { file: at('no'), topK: 33 } }, 'KVAD_E_OPTION'],
    [{ kldBaseOut: { file: at('no'), topK: 0 } }, 'KVAD_E_OPTION'],
    [{ kldBaseOut: { file: at('no'), format: 'full', topK: 2 } }, 'KVAD_E_OPTION'],
    [{ method: 'sliding', kldBaseOut: { file: at('no'), format: 'full' } }, 'KVAD_E_OPTION'],
  ])('%j', async (difference, code) => {
    await expect(models.toy.perplexity({ ...CHUNKS, ...difference })).rejects.toMatchObject({ code });
    expect(existsSync(at('no'))).toBe(false);
  });

  it('windows beyond the model’s context name both numbers', async () => {
    await expect(models.toy.perplexity({ input: { ids: idsOf(600) }, ctx: 257 })).rejects.toMatchObject({
      message: "windows of 257 tokens do not fit the model's context of 256",
    });
  });

  it.each([VOCAB, -1, 1.5, NaN, 2 ** 32 + 1, 2 ** 31])('the id %d, which is none of the vocabulary', async (id) => {
    const input = { ids: [...ids.slice(0, 63), id] };
    await expect(models.toy.perplexity({ ...CHUNKS, input })).rejects.toMatchObject({ code: 'KVAD_E_TOKEN_ID' });
  });
});
