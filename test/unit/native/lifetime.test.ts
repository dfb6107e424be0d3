import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const dist = path.resolve('core/dist');

/** Runs a module in a process of its own. */
const play = (source: string, ...words: string[]): Promise<{ exit: number | null; out: string; err: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', source, ...words]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (err += data.toString()));
    child.on('error', reject).on('close', (exit) => resolve({ exit, out, err }));
  });

describe.runIf(loadAddon() !== null)('native memory', () => {
  it('is given back when a model is disposed: many cycles leave the process as large as it was', async () => {
    const source = `
      import { createNativeOps } from ${JSON.stringify(`${dist}/kernels/native/index.js`)};
      const bytes = new Uint8Array(512 * 512 * 4).fill(1);
      const cycle = () => {
        const ops = createNativeOps({ threads: 2, kernels: null, kvCacheDtype: 'f16', dequantise: false });
        const w = ops.matrix({ dtype: 'F32', shape: [512, 512], bytes }, 'q8');
        const state = ops.state({ name: 's', kind: 'kv', shape: [512], dtype: 'f32', init: 0, rollback: 'any' });
        const x = ops.upload(new Float32Array(64 * 512), 64, 512);
        const y = ops.tensor(64, 512);
        ops.linear(x, w, y, { bias: ops.constant(new Float32Array(512)) });
        ops.append(state, y, 0, 64, 0);
        ops.host(y);
        ops.dispose();
      };
      const settle = async () => {
        for (let i = 0; i < 5; i++) { gc(); await new Promise((r) => setTimeout(r, 5)); }
        return process.memoryUsage.rss();
      };
      for (let i = 0; i < 30; i++) { cycle(); if (i % 10 === 0) await settle(); }
      const before = await settle();
      for (let i = 0; i < 100; i++) { cycle(); if (i % 10 === 0) await settle(); }
      console.log((await settle()) - before);`;
    const { exit, out, err } = await play(source);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    // a cycle touches about 2 MB: a leak of any part of it would be far more than this
    expect(Number(out)).toBeLessThan(16 * 2 ** 20);
  }, 120_000);

  // The collector of Node 24 ends the process where more is taken off its books than stood in them.
  it('of a mapped file ends quietly: when it is collected, with its thread, and with the process', async () => {
    const open = `
      import(${JSON.stringify(`${dist}/checkpoint/read.js`)}).then(({ openBytes }) =>
        globalThis.view = openBytes(${JSON.stringify(path.resolve('cli/model/model.safetensors'))}).read(0, 4_000_000))`;
    const source = `
      import { Worker } from 'node:worker_threads';
      const open = ${JSON.stringify(open)};
      const settle = async () => {
        for (let i = 0; i < 5; i++) { gc(); await new Promise((r) => setTimeout(r, 5)); }
      };
      await eval(open);
      globalThis.view = undefined;
      await settle();
      const worker = new Worker(open, { eval: true });
      console.log(await new Promise((r) => worker.on('exit', r)));
      await eval(open);
      console.log(view.length);`;
    expect(await play(source)).toEqual({ exit: 0, out: '0\n4000000\n', err: '' });
  }, 60_000);
});
