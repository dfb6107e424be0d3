/** Makes docs/cli.md out of the table of commands (cli/src/commands/table.ts). A test refuses a page that differs. */
import { $, fs, path } from 'zx';

const root = path.resolve(import.meta.dirname, '..');
await $({ cwd: root, stdio: 'inherit' })`npx tsc -b cli`;
const { referencePage } = await import('../cli/dist/commands/reference-page.js');
await fs.outputFile(path.join(root, 'docs/cli.md'), referencePage());
