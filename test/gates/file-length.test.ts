import { describe, expect, it } from 'vitest';
import { read, repositoryFiles } from './sources.js';

const LIMITS = [
  { what: 'a family is a page', files: /^plugins\/[^/]+\/src\/families\/[^/]+\.ts$/, lines: 120 },
  { what: "a plugin's main file stays a list", files: /^plugins\/[^/]+\/src\/index\.ts$/, lines: 299 },
  { what: 'a file is read in one sitting', files: /\.(ts|mjs|js)$/, lines: 399 },
];

const written = repositoryFiles().filter((file) => !file.includes('/generated/') && !file.startsWith('test/fixtures/'));

describe('file length', () => {
  it.each(LIMITS)('$what: at most $lines lines', ({ files, lines }) => {
    const tooLong = written
      .filter((file) => files.test(file))
      .map((file) => ({ file, lines: read(file).split('\n').length - 1 }))
      .filter((one) => one.lines > lines);
    expect(tooLong).toEqual([]);
  });

  it('no file is named for being left over', () => {
    const vague = /(^|\/)(utils?|helpers?|common|manager|misc)(\.|\/|-)/i;
    expect(written.filter((file) => vague.test(file))).toEqual([]);
  });
});
