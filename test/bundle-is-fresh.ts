/** Before any test: what `npx tsc -b` has compiled since the last build is in the bundle too, which some tests run. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';

export default (): void => {
  execFileSync(process.execPath, [path.join(import.meta.dirname, '../scripts/bundle.mjs')], { stdio: 'inherit' });
};
