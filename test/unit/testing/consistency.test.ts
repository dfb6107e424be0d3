import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isKvadError, KvadError } from '@kvad/core';
import { checkConsistency, fixtureDirectory, promptIds, testFamily, type ConsistentModel } from '@kvad/core/testing';
import { createEngine } from 'kvad';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { at } from '../../gates/sources.js';

const VOCAB = 8;

/** Logits of a made-up model: a row tells its token and position, and what `odd` adds. */
type Odd = (given: { chunk: number; position: number; cut: boolean }) => number;

const madeUp = (odd: Odd, kernels = 'native'): ConsistentModel =>
  ({
    facts: { kernels, plan: { vocabSize: VOCAB, contextLength: 100, ropeTables: {} } },
    close: () => Promise.resolve(),
    session: () => {
      let held: number[] = [];
      let cut = false;
      return Promise.resolve({
        prefill: (ids: readonly number[], { chunk = 512 }: { chunk?: number } = {}) => {
          const from = held.length;
          held = [...held, ...ids];
          const row = (position: number): number[] =>
            Array.from(
              { length: VOCAB },
              (_, id) => Math.sin(id * held[position]! + position) + odd({ chunk, position, cut }),
            );
          return Promise.resolve(Float32Array.from(ids.flatMap((_, index) => row(from + index))));
        },
        truncate: (length: number) => {
          held = held.slice(0, length);
          cut = true;
          return Promise.resolve(length);
        },
        close: () => Promise.resolve(),
      });
    },
  }) as unknown as ConsistentModel;

const right = madeUp(() => 0, 'reference');
const open = (): Promise<ConsistentModel> => Promise.resolve(right);

describe('a model held against itself', () => {
  it('that agrees passes', async () => {
    const found = await checkConsistency(
      madeUp(() => 0),
      open,
    );
    expect(found).toEqual({ positions: 48, finite: true, chunks: 0, truncation: 0, kernels: 0, pass: true });
  });

  it.each<[string, Odd, string]>([
    ['chunks', ({ chunk, position }) => (chunk === 7 && position === 40 ? 0.01 : 0), 'chunks'],
    ['a cut', ({ cut }) => (cut ? 0.01 : 0), 'truncation'],
    ['the other arithmetic', () => 0.01, 'kernels'],
  ])('that differs in %s does not, and says in which', async (_, odd, where) => {
    const found = await checkConsistency(madeUp(odd), open);
    const far = (['chunks', 'truncation', 'kernels'] as const).filter((name) => (found[name] ?? 0) > 1e-4);
    expect({ far, pass: found.pass }).toEqual({ far: [where], pass: false });
  });

  it('whose logits are no numbers does not', async () => {
    const found = await checkConsistency(
      madeUp(({ position }) => (position === 3 ? NaN : 0)),
      open,
    );
    expect(found).toMatchObject({ finite: false, pass: false, chunks: Infinity });
  });

  it('that is too large for the reference arithmetic is not compared with it', async () => {
    const refuse = (): Promise<never> => {
      const where = { directory: 'x', parameters: 1e9, limit: 3e8 };
      return Promise.reject(new KvadError('KVAD_E_REFERENCE_TOO_SLOW', where));
    };
    expect(
      await checkConsistency(
        madeUp(() => 0),
        refuse,
      ),
    ).toMatchObject({ kernels: null, pass: true });
    const broken = checkConsistency(
      madeUp(() => 0),
      () => Promise.reject(new KvadError('KVAD_E_INTERNAL', { reason: 'x' })),
    );
    await expect(broken).rejects.toSatisfy(isKvadError);
  });

  it('of the library: a memory that cannot be cut back agrees with itself too', async () => {
    const engine = createEngine();
    const longhand = createEngine({ env: { ...process.env, KVAD_CPU: 'reference' } });
    const load = (one: typeof engine): Promise<ConsistentModel> =>
      one.load(fixtureDirectory('delta-net/qwen3_next'), { quant: 'f32', kvCacheDtype: 'f32' });
    const found = await checkConsistency(await load(engine), () => load(longhand));
    expect(found).toMatchObject({ finite: true, positions: 48, pass: true });
    expect([found.kernels === null, (await load(longhand)).facts.kernels]).toEqual([loadAddon() === null, 'reference']);
    await Promise.all([engine.close(), longhand.close()]);
  });
});

describe('prompts without a reference', () => {
  it('are of the vocabulary, and the same every time', () => {
    const ids = [...promptIds(11, 200)];
    expect(ids.every((id) => id >= 0 && id < 11)).toBe(true);
    expect(new Set(ids).size).toBe(11);
    expect([...promptIds(11, 200)]).toEqual(ids);
  });
});

describe('the kit on a config alone', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-alone-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('makes weights of its plan, and claims nothing about a reference', async () => {
    cpSync(at('test/fixtures/dense-core/llama/config.json'), path.join(folder, 'config.json'));
    const claims = new Map<string, () => Promise<void>>();
    let title = '';
    testFamily('llama', {
      fixture: folder,
      plugins: [at('plugins/dense')],
      describe: (name, body) => {
        title = name;
        body();
      },
      it: (name, body) => claims.set(name, body),
    });
    expect(title).toContain('nothing says that it is right');
    expect([...claims.keys()].filter((name) => name.includes('reference'))).toEqual([]);
    expect(claims.size).toBeGreaterThanOrEqual(9);
    for (const claim of claims.values()) await claim();
  });
});
