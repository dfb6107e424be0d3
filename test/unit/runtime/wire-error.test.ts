import { KvadError } from '@kvad/core';
import { expect, it } from 'vitest';
import { fromWire, toWire } from '../../../core/dist/runtime/wire-error.js';

const across = (error: unknown): Error => fromWire(structuredClone(toWire(error)));

it('an error of the catalogue arrives with code, parameters, hint and stack', () => {
  const error = new KvadError('KVAD_E_CONTEXT', { tokens: 9, contextLength: 8 });
  const arrived = across(error);
  expect(arrived).toBeInstanceOf(KvadError);
  const { code, params, hint, message, stack } = error;
  expect(arrived).toMatchObject({ code, params, hint, message, stack });
});

it('causes arrive with it', () => {
  const cause = new TypeError('deep');
  const arrived = across(new KvadError('KVAD_E_PLUGIN', { plugin: 'p', reason: 'deep' }, { cause }));
  expect(arrived.cause).toMatchObject({ name: 'TypeError', message: 'deep', stack: cause.stack });
});

it('another error arrives with its name and message', () => {
  expect(across(new RangeError('too far'))).toMatchObject({ name: 'RangeError', message: 'too far' });
});

it('what is no error arrives as its text', () => {
  expect(across('gone')).toMatchObject({ name: 'Error', message: 'gone' });
});

it('parameters that are no data do not keep an error from arriving', () => {
  const params = { plugin: 'p', reason: 'r', extra: () => 1 };
  expect(across(new KvadError('KVAD_E_PLUGIN', params))).toMatchObject({
    code: 'KVAD_E_PLUGIN',
    message: 'plugin p failed: r',
  });
});
