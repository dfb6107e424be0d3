import { describe, it } from 'node:test';
import { testFamily } from '@kvad/core/testing';

testFamily('example_decoder', {
  fixture: new URL('./fixture', import.meta.url),
  plugins: [new URL('..', import.meta.url), new URL(import.meta.resolve('@kvad/arch-dense/package.json'))],
  describe,
  it,
});
