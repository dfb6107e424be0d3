import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';

describe.runIf(loadAddon() !== null)('a state that grows a row at a time', () => {
  it.each([1, 3, 8, 16, 32, 100])('holds rows of %i, however little memory one takes', (width) => {
    const values = Float32Array.from({ length: 70 * width }, (_, i) => i % 512);
    for (const kvCacheDtype of ['f32', 'f16'] as const) {
      const on = createNativeOps({ threads: 1, kernels: 'portable', kvCacheDtype, dequantise: false })!;
      const state = on.state({ name: 's', kind: 'kv', shape: [width], dtype: 'cache', init: 0, rollback: 'any' });
      const rows = on.upload(values, 70, width);
      for (let row = 0; row < 70; row++) on.append(state, rows, row, 1, row);
      expect([...on.host(on.stateTensor(state))], kvCacheDtype).toEqual([...values]);
      on.dispose();
    }
  });
});
