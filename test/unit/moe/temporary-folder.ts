import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that is gone when the test file is done. */
export const temporaryFolder = (about: string): string => {
  const folder = mkdtempSync(path.join(tmpdir(), `kvad-${about}-`));
  made.push(folder);
  return folder;
};
