/** The process that `trial.ts` starts: loads the file of its first argument in the library of its second, and encodes difficult texts. */
import { readFileSync } from 'node:fs';
import { openLibrary } from './library.js';
import { checkTokenizer } from './tokenizer-file.js';

/** Runs of these, and of the characters of the patterns, are what patterns with nested repeats do not survive. */
const UNITS = [
  'a',
  'A',
  'aA',
  '1',
  ' ',
  ' a',
  '\n',
  '\r\n',
  ' \n',
  '!',
  '_',
  "'",
  '.',
  'é',
  '中',
  '\u0301',
  'a1',
  '\t',
];
const LENGTHS = [40, 2000];

const bytes = readFileSync(process.argv[2] ?? '');
const { patterns } = checkTokenizer(bytes);

/** An error is an answer as well, which the main process will get too; only the end of the process is none. */
const unlessRefused = async (action: () => unknown): Promise<void> => {
  try {
    await action();
  } catch {
    return; // as said above
  }
};

await unlessRefused(async () => {
  const { make } = await openLibrary(process.argv[3] === 'javascript' ? 'javascript' : 'native');
  const tokenizer = make({ file: null, text: () => bytes.toString('utf8').replace(/^\uFEFF/, '') }, []);
  for (const unit of new Set([...UNITS, ...patterns.join('')])) {
    for (const length of LENGTHS) {
      for (const end of ['', '\u0001', 'b']) {
        await unlessRefused(() => tokenizer.encode(unit.repeat(length) + end, true));
      }
    }
  }
  const ids = Array.from({ length: 300 }, (_, id) => id);
  await unlessRefused(() => tokenizer.decode(ids, false));
});
