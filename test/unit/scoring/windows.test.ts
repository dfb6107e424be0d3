import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planWindows, scoredIn, type WindowSettings } from '../../../core/dist/scoring/windows.js';

const chunksOf = (ctx: number, chunks: number | null = null): WindowSettings => ({
  method: 'chunks',
  ctx,
  stride: null,
  chunks,
});
const slidingOf = (ctx: number, stride: number): WindowSettings => ({ method: 'sliding', ctx, stride, chunks: null });

describe('chunks', () => {
  it.each([
    [128, 63],
    [97, 48],
    [3, 1],
    [4, 1],
    [5, 2],
  ])('of %i score %i targets each, from the middle on, and drop the remainder', (ctx, scored) => {
    const windows = planWindows(3 * ctx + ctx - 1, chunksOf(ctx));
    expect(windows).toEqual(
      [0, 1, 2].map((index) => ({
        index,
        begin: index * ctx,
        end: (index + 1) * ctx,
        firstTarget: index * ctx + Math.floor(ctx / 2) + 1,
      })),
    );
    expect(windows.map(scoredIn)).toEqual([scored, scored, scored]);
  });

  it('are as many as asked for, or as there are', () => {
    expect(planWindows(1000, chunksOf(100, 4))).toHaveLength(4);
    expect(planWindows(1000, chunksOf(100, 40))).toHaveLength(10);
  });

  it.each([
    [199, null],
    [199, 1],
    [0, null],
  ])(
    'ask for two windows of tokens: %i with a limit of %s are too few, and both numbers are said',
    (tokens, chunks) => {
      expect(() => planWindows(tokens, chunksOf(100, chunks))).toThrow(
        expect.objectContaining({
          code: 'KVAD_E_SCORING_TEXT_SHORT',
          message: `the text has ${tokens} tokens, chunks with --ctx 100 needs at least 200`,
        }),
      );
      expect(planWindows(200, chunksOf(100, chunks))).toHaveLength(chunks ?? 2);
    },
  );
});

describe('sliding windows', () => {
  it('score what no window before has scored', () => {
    const windows = planWindows(10, slidingOf(4, 3));
    expect(windows.map(({ begin, end, firstTarget }) => [begin, end, firstTarget])).toEqual([
      [0, 4, 1],
      [3, 7, 4],
      [6, 10, 7],
    ]);
  });

  it('that do not overlap lose one target each: none is scored without context', () => {
    const windows = planWindows(9, slidingOf(4, 4));
    expect(windows.map(({ begin, end, firstTarget }) => [begin, end, firstTarget])).toEqual([
      [0, 4, 1],
      [4, 8, 5],
    ]);
  });

  it('score each token at most once, with context, and all but the first where they overlap', () => {
    const sizes = fc.tuple(fc.integer({ min: 2, max: 300 }), fc.integer({ min: 2, max: 40 }), fc.nat(39));
    fc.assert(
      fc.property(sizes, ([tokens, ctx, less]) => {
        const stride = Math.max(1, ctx - less);
        const windows = planWindows(tokens, slidingOf(ctx, stride));
        const times = new Array<number>(tokens).fill(0);
        windows.forEach(({ index, begin, end, firstTarget }, place) => {
          expect([index, end - begin <= ctx, firstTarget > begin, firstTarget < end]).toEqual([
            place,
            true,
            true,
            true,
          ]);
          for (let target = firstTarget; target < end; target++) times[target]!++;
        });
        const once = times.map((_, target) => (target === 0 || (stride === ctx && target % ctx === 0) ? 0 : 1));
        expect(times).toEqual(once);
      }),
    );
  });

  it('need two tokens', () => {
    expect(() => planWindows(1, slidingOf(8, 8))).toThrow(
      'the text has 1 tokens, sliding with --ctx 8 needs at least 2',
    );
  });
});
