import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';

const OPTIONS = { threads: 1, kernels: null, kvCacheDtype: 'f32', dequantise: false } as const;

describe.runIf(loadAddon() !== null)('native scratch', () => {
  it('is seen further and further, and views of it go on to see the same memory', () => {
    const ops = createNativeOps(OPTIONS)!;
    const first = ops.upload(Float32Array.of(1, 2, 3), 1, 3);
    const seen = ops.host(first);
    // 40 MB behind it, then 400: each more than was visible before.
    for (const rows of [10_000, 100_000]) {
      const far = ops.tensor(rows, 1000);
      const last = ops.rows(far, rows - 1, 1);
      ops.write(last, new Float32Array(1000).fill(rows));
      expect(ops.host(last).every((value) => value === rows)).toBe(true);
      ops.write(first, Float32Array.of(rows, 2, 3));
      expect([...seen]).toEqual([rows, 2, 3]);
      expect([...ops.host(first)]).toEqual([rows, 2, 3]);
    }
    expect(() => ops.tensor(2 ** 20, 2 ** 10)).toThrow('are reserved');
    ops.dispose();
  });

  it('has columns at its very end', () => {
    const ops = createNativeOps(OPTIONS)!;
    const x = ops.upload(
      Float32Array.from({ length: 12 }, (_, i) => i),
      3,
      4,
    );
    expect([...ops.host(ops.columns(x, 3, 1))]).toEqual([3, 7, 11]);
    ops.dispose();
  });
});
