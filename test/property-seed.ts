/**
 * Before each file of tests: the seed of its properties. One number, so that every run tries the same cases and a change
 * is all that can fail one; `KVAD_TEST_SEED=N` tries others, `KVAD_TEST_SEED=random` draws N and prints it.
 */
import path from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';

const asked = process.env['KVAD_TEST_SEED'] ?? '1';
const seed = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
if (asked.trim() === '' || !Number.isInteger(seed)) throw new Error(`KVAD_TEST_SEED=${asked}: an integer or random`);
if (asked === 'random') {
  const file = path.relative(process.cwd(), expect.getState().testPath ?? '');
  process.stderr.write(`KVAD_TEST_SEED=${seed} ${file}\n`);
}
fc.configureGlobal({ seed });
