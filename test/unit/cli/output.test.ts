import { KvadError, type GenerateEvent } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { planSummary, ranges } from '../../../cli/dist/commands/plan-summary.js';
import { summary, textReport } from '../../../cli/dist/commands/run-report.js';
import { colorsFor } from '../../../cli/dist/io/colors.js';
import { printError } from '../../../cli/dist/io/print-error.js';
import { formatBytes, formatCount } from '../../../cli/dist/io/quantities.js';
import { textTable } from '../../../cli/dist/io/text-table.js';
import { fakeIo } from './fake-io.js';

describe('an error', () => {
  const error = new KvadError('KVAD_E_FILE', { action: 'read', file: 'x.json', reason: 'it does not exist' });

  it('is a sentence, a hint and the docs, on stderr', async () => {
    const io = fakeIo();
    await printError(io, error, { json: false, debug: false, colors: colorsFor(io, io.stderr) });
    expect(io.out()).toBe('');
    expect(io.err()).toBe(
      'error: cannot read x.json: it does not exist\n  hint: check the path and its permissions\n  docs: docs/errors.md#kvad_e_file (KVAD_E_FILE)\n',
    );
  });

  it('with --json is one line of JSON', async () => {
    const io = fakeIo();
    await printError(io, error, { json: true, debug: false, colors: colorsFor(io, io.stderr) });
    expect(io.err().match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(io.err())).toMatchObject({ object: 'kvad.error', code: 'KVAD_E_FILE' });
  });

  it('that nobody expected says how to report it, with its stack only for --debug', async () => {
    const io = fakeIo();
    const colors = colorsFor(io, io.stderr);
    await printError(io, new TypeError('x is not a function'), { json: false, debug: false, colors });
    expect(io.err()).toMatch(/error: kvad itself failed: TypeError: x is not a function\n {2}hint: .*report/);
    expect(io.err()).not.toContain('    at ');
    await printError(io, new TypeError('x is not a function'), { json: false, debug: true, colors });
    expect(io.err()).toMatch(/caused by TypeError: x is not a function\n {4}at /);
  });
});

describe('colour', () => {
  it.each([
    ['a terminal', { tty: true }, true],
    ['a pipe', { tty: false }, false],
    ['NO_COLOR', { tty: true, env: { NO_COLOR: '1' } }, false],
    ['a dumb terminal', { tty: true, env: { TERM: 'dumb' } }, false],
  ])('%s', (_, given, colored) => {
    const io = fakeIo(given);
    expect(colorsFor(io, io.stderr).isColorSupported).toBe(colored);
  });
});

describe('a generation as text', () => {
  const stats = {
    promptTokens: 41,
    reusedTokens: 0,
    generatedTokens: 56,
    prefillMilliseconds: 1100,
    decodeMilliseconds: 1620,
  };
  const token = (text: string): GenerateEvent => ({ type: 'token', id: 1, text, echo: false, logprob: null, top: [] });
  const end: GenerateEvent = { type: 'end', reason: 'length', text: ' end', stats };

  const shown = async (tty: boolean, events: GenerateEvent[]): Promise<{ out: string; err: string }> => {
    const io = fakeIo({ tty, env: { NO_COLOR: '1' } });
    const report = textReport(io, { logprobs: false });
    for (const event of events) await report(event);
    return { out: io.out(), err: io.err() };
  };

  it('is the text alone on stdout, with one newline at its end', async () => {
    expect(await shown(false, [token('a'), token(''), token('b'), end])).toEqual({ out: 'ab end\n', err: '' });
    expect((await shown(false, [token('a\n'), { ...end, text: '' }])).out).toBe('a\n');
  });

  it('has the speed on stderr of a terminal', async () => {
    expect((await shown(true, [end])).err).toBe('[prefill 41 tokens in 1.10s · generated 56 in 1.62s = 34.6 tok/s]\n');
  });

  it('counts only what was computed of the prompt, and divides by no zero', () => {
    expect(summary({ ...stats, reusedTokens: 40, generatedTokens: 0, decodeMilliseconds: 0 })).toBe(
      '[prefill 1 tokens in 1.10s · generated 0 in 0.00s = 0.0 tok/s]',
    );
  });
});

describe('words for people', () => {
  it('quantities', () => {
    expect([formatCount(7), formatCount(1234567), formatCount(34_500_000_000)]).toEqual(['7', '1.23 M', '34.5 G']);
    expect([formatBytes(512), formatBytes(4631296)]).toEqual(['512 B', '4.63 MB']);
  });

  it('ranges of layers', () => {
    expect(ranges([0, 1, 2, 4, 5, 8])).toBe('0-2, 4-5, 8');
  });

  it('tables', () => {
    expect(
      textTable([
        ['a', 'b'],
        ['long', ''],
        ['x', 'y'],
      ]),
    ).toBe('a     b\nlong\nx     y');
  });

  it('a plan with equal layers written once', () => {
    const norm = { kind: 'rms', eps: 1e-6, offset: 0, weight: true, bias: false } as const;
    const op = {
      name: 'mixer',
      axis: 'mixer',
      kind: 'attention',
      options: { heads: 4, mask: { window: null } },
      norm: { before: norm },
      residual: { scale: 1, keep: 1, from: 'previous' },
    } as const;
    const layer = { block: { kind: 'residual', options: {} }, ops: [op] };
    const other = { ...layer, ops: [{ ...op, options: { heads: 8 } }] };
    const text = planSummary({
      version: 1,
      family: 'f',
      modelType: 't',
      vocabSize: 10,
      hiddenSize: 8,
      contextLength: 64,
      embedding: { size: 8, scale: 1, positions: { kind: 'none' }, norm: null, project: null },
      inputs: [],
      stack: { kind: 'sequential', options: {} },
      layers: [layer, layer, other, layer],
      schedule: [0, 1, 2, 3].map((index) => ({ layer: index, state: index })),
      finalNorm: norm,
      head: { before: [], tied: true, bias: false, logitScale: 1, softcap: null, dtype: 'f32' },
      ropeTables: { main: { type: 'default', theta: 10000, dims: 2 } },
      residualDtype: 'f32',
    } as never);
    expect(text).toContain('layers        0-1, 3  (3 of them, block residual)');
    expect(text).toContain('layer         2  (1 of them, block residual)');
    expect(text).toContain('heads=4 mask={window=null}');
    expect(text).toContain('rope main     type=default theta=10000 dims=2');
    expect(text).not.toContain('schedule');
  });
});
