import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testFamily } from '@kvad/core/testing';

testFamily('acme_lm', {
  fixture: new URL('./fixtures/acme_lm', import.meta.url),
  plugins: [new URL('..', import.meta.url), fileURLToPath(import.meta.resolve('@kvad/arch-dense/package.json'))],
  describe,
  it,
});
