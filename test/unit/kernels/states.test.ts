import { describe, expect, it } from 'vitest';
import { roundToF16, type Ops, type State, type StateKind, type StateSpec } from '@kvad/core';
import { newOps, numbers, windowed } from './numbers.js';

const spec = (kind: StateKind, more: Partial<StateSpec> = {}): StateSpec => ({
  name: 'memory',
  kind,
  shape: [2, 3],
  dtype: 'f32',
  init: 0,
  rollback: 'any',
  ...more,
});

const contents = (ops: Ops, state: State): number[] => Array.from(ops.host(ops.stateTensor(state)));

describe.each(['kv', 'latent', 'rows'] as const)('a state of the growing kind %s', (kind) => {
  it('starts empty and holds what was appended, through many growths', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    expect([state.length, state.width]).toEqual([0, 6]);
    const all = numbers(1, 300 * 6);
    const x = windowed(ops, all, 300, 6);
    for (let row = 0; row < 300; row += 3) ops.append(state, x, row, 3, row);
    expect(state.length).toBe(300);
    expect(contents(ops, state)).toEqual(Array.from(all));
    expect(ops.stateBytes(state)).toBeGreaterThanOrEqual(300 * 6 * 4);
  });

  it('truncates, and goes on from there', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    const x = ops.upload(numbers(2, 60), 10, 6);
    ops.append(state, x, 0, 10, 0);
    ops.truncate(state, 4);
    expect(contents(ops, state)).toEqual(Array.from(numbers(2, 60).subarray(0, 24)));
    ops.append(state, x, 8, 2, 4);
    expect(contents(ops, state).slice(24)).toEqual(Array.from(numbers(2, 60).subarray(48)));
    expect(() => ops.truncate(state, 7)).toThrow('holds 6 rows, not 7');
    expect(() => ops.truncate(state, -1)).toThrow('holds 6 rows');
  });

  it('forgets what stood behind rows that are written again', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    const x = ops.upload(numbers(3, 60), 10, 6);
    ops.append(state, x, 0, 10, 0);
    ops.append(state, x, 9, 1, 2);
    expect(state.length).toBe(3);
  });

  it('restores a snapshot after it went on', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    const x = ops.upload(numbers(4, 60), 10, 6);
    ops.append(state, x, 0, 5, 0);
    const snapshot = ops.snapshot(state);
    expect([snapshot.length, snapshot.bytes]).toEqual([5, 5 * 6 * 4]);
    ops.truncate(state, 1);
    ops.append(state, x, 5, 5, 1);
    ops.restore(state, snapshot);
    expect(contents(ops, state)).toEqual(Array.from(numbers(4, 60).subarray(0, 30)));
    ops.append(state, x, 9, 1, 0);
    ops.restore(state, snapshot);
    expect(contents(ops, state)).toEqual(Array.from(numbers(4, 60).subarray(0, 30)));
  });

  it('refuses a hole, other widths and other types', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    const x = ops.upload(numbers(5, 12), 2, 6);
    expect(() => ops.append(state, x, 0, 1, 1)).toThrow('rows at 1 leave a hole');
    expect(() => ops.append(state, x, 1, 2, 0)).toThrow('x [2, 6], start 1, length 2');
    expect(() => ops.append(state, ops.columns(x, 0, 5), 0, 1, 0)).toThrow('takes rows of 6');
    expect(() => ops.append(state, ops.tensor(1, 6, 'i32'), 0, 1, 0)).toThrow('i32 rows');
  });
});

describe('the dtype of a state', () => {
  const appended = (cache: 'f16' | 'f32', dtype: StateSpec['dtype']): number[] => {
    const ops = newOps(cache);
    const state = ops.state(spec('kv', { dtype }));
    ops.append(state, ops.upload(numbers(6, 6), 1, 6), 0, 1, 0);
    return contents(ops, state);
  };
  const exact = Array.from(numbers(6, 6));

  it.each([
    ['f32', 'cache', exact],
    ['f16', 'cache', exact.map(roundToF16)],
    ['f16', 'f32', exact],
    ['f32', 'f16', exact.map(roundToF16)],
  ] as const)('with a cache of %s, %s holds its values', (cache, dtype, expected) => {
    expect(appended(cache, dtype)).toEqual(expected);
    expect(exact.map(roundToF16)).not.toEqual(exact);
  });

  it('i32 holds integers', () => {
    const ops = newOps();
    const state = ops.state(spec('rows', { dtype: 'i32', shape: [2] }));
    ops.append(state, ops.upload(Int32Array.of(-5, 2 ** 30 + 1), 1, 2), 0, 1, 0);
    expect(contents(ops, state)).toEqual([-5, 2 ** 30 + 1]);
  });
});

describe.each(['ring', 'conv', 'recurrent'] as const)('a state of the fixed kind %s', (kind) => {
  it('holds its shape once, filled with its initial value', () => {
    const ops = newOps();
    const state = ops.state(spec(kind, { init: -1.5 }));
    expect([state.length, state.width]).toEqual([1, 6]);
    expect(contents(ops, state)).toEqual(new Array(6).fill(-1.5));
    expect(ops.stateBytes(state)).toBe(24);
  });

  it('is written through its tensor and restored from a snapshot', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    ops.write(ops.stateTensor(state), numbers(7, 6));
    const snapshot = ops.snapshot(state);
    ops.write(ops.stateTensor(state), numbers(8, 6));
    ops.restore(state, snapshot);
    expect(contents(ops, state)).toEqual(Array.from(numbers(7, 6)));
  });

  it('neither grows nor shrinks', () => {
    const ops = newOps();
    const state = ops.state(spec(kind));
    expect(() => ops.truncate(state, 0)).toThrow('fixed kind');
    expect(() => ops.append(state, ops.tensor(1, 6), 0, 1, 0)).toThrow('fixed kind');
  });
});

describe('handles', () => {
  it('a tensor over a state ends when the state moves to larger memory', () => {
    const ops = newOps();
    const state = ops.state(spec('kv'));
    const x = ops.upload(numbers(9, 6 * 100), 100, 6);
    ops.append(state, x, 0, 1, 0);
    const before = ops.stateTensor(state);
    ops.append(state, x, 0, 99, 1);
    expect(() => ops.host(before)).toThrow('after its memory was released');
  });

  it('a freed state is dead, and so is a tensor over it', () => {
    const ops = newOps();
    const state = ops.state(spec('conv'));
    const view = ops.stateTensor(state);
    ops.freeState(state);
    expect(() => ops.snapshot(state)).toThrow('after it was freed');
    expect(() => ops.host(view)).toThrow('after its memory was released');
  });

  it('a state is dead when its ops are disposed of', () => {
    const ops = newOps();
    const state = ops.state(spec('kv'));
    ops.dispose();
    expect(() => ops.truncate(state, 0)).toThrow('after it was freed');
  });

  it('a snapshot of another state is refused', () => {
    const ops = newOps();
    const narrow = ops.state(spec('conv', { shape: [5] }));
    expect(() => ops.restore(ops.state(spec('conv')), ops.snapshot(narrow))).toThrow('not one of state memory');
  });
});
