import { describe, it } from 'node:test';
import { testFamily } from '@kvad/core/testing';

testFamily('example_scan', {
  fixture: new URL('./fixture', import.meta.url),
  plugins: [new URL('..', import.meta.url)],
  describe,
  it,
});
