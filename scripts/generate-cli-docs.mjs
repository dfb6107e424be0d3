/**
 * Makes docs/cli.md out of the table of commands (cli/src/commands/table.ts, as it was built).
 * `--check` writes nothing and fails where the file differs.
 */
import { argv, fs, path } from 'zx';
import { referencePage } from '../cli/dist/commands/reference-page.js';

const target = path.resolve(import.meta.dirname, '../docs/cli.md');
const page = referencePage();
const old = (await fs.pathExists(target)) ? await fs.readFile(target, 'utf8') : null;

if (old !== page && argv.check) {
  console.log('docs/cli.md differs from the table of commands: run npm run generate');
  process.exitCode = 1;
} else if (old !== page) {
  await fs.outputFile(target, page);
  console.log('docs/cli.md: done');
}
