import { StopStrings, type StopResult } from '@kvad/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorOf } from './folders.js';

const feed = (stops: readonly string[], pieces: readonly string[]): StopResult => {
  const watcher = new StopStrings(stops);
  let text = '';
  for (const piece of pieces) {
    const result = watcher.push(piece);
    text += result.text;
    if (result.stop !== null) return { text, stop: result.stop };
  }
  const last = watcher.end();
  return { text: text + last.text, stop: last.stop };
};

/** What stop strings mean, longhand, on the whole text. */
const whole = (stops: readonly string[], text: string): StopResult => {
  for (let at = 0; at < text.length; at++) {
    const here = stops.filter((stop) => text.startsWith(stop, at)).sort((a, b) => b.length - a.length);
    if (here[0] !== undefined) return { text: text.slice(0, at), stop: here[0] };
  }
  return { text, stop: null };
};

describe('stop strings', () => {
  it.each([
    { claim: 'a stop across pieces', stops: ['END'], pieces: ['a E', 'N', 'D b'], text: 'a ', stop: 'END' },
    { claim: 'a stop that is all of the text', stops: ['END'], pieces: ['END'], text: '', stop: 'END' },
    {
      claim: 'the one that starts first wins',
      stops: ['bc', 'abcd'],
      pieces: ['a', 'b', 'c', 'd'],
      text: '',
      stop: 'abcd',
    },
    {
      claim: 'one inside another that never comes',
      stops: ['bc', 'abcd'],
      pieces: ['ab', 'cx'],
      text: 'a',
      stop: 'bc',
    },
    { claim: 'the longest of equal starts', stops: ['ab', 'abc'], pieces: ['a', 'b', 'c'], text: '', stop: 'abc' },
    { claim: 'the shorter when the longer fails', stops: ['ab', 'abc'], pieces: ['ab', 'd'], text: '', stop: 'ab' },
    { claim: 'the shorter when the text ends', stops: ['ab', 'abc'], pieces: ['x', 'ab'], text: 'x', stop: 'ab' },
    { claim: 'no stop: all of the text', stops: ['abc'], pieces: ['a', 'b'], text: 'ab', stop: null },
    { claim: 'no stops at all', stops: [], pieces: ['a', 'b'], text: 'ab', stop: null },
    { claim: 'characters of two units', stops: ['🦊'], pieces: ['a🦊', 'b'], text: 'a', stop: '🦊' },
  ])('$claim', ({ stops, pieces, text, stop }) => {
    expect(feed(stops, pieces)).toEqual({ text, stop });
  });

  it('holds back only the longest end that may become a stop', () => {
    const watcher = new StopStrings(['<|end|>', 'STOP']);
    expect(watcher.push('the fox <')).toEqual({ text: 'the fox ', stop: null });
    expect(watcher.push('|')).toEqual({ text: '', stop: null });
    expect(watcher.push('x ST')).toEqual({ text: '<|x ', stop: null });
    expect(watcher.push('E')).toEqual({ text: 'STE', stop: null });
    expect(watcher.end()).toEqual({ text: '', stop: null });
  });

  it('an empty stop is refused', async () => {
    const error = await errorOf(() => new StopStrings(['a', '']));
    expect(error.code).toBe('KVAD_E_OPTION');
    expect(error.message).toContain('stop is ""');
  });

  it('how the text is cut into pieces changes nothing', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.array(few, { maxLength: 6 }), stops, (pieces, list) => {
        expect(feed(list, pieces)).toEqual(whole(list, pieces.join('')));
      }),
      { numRuns: 500 },
    );
  });
});
