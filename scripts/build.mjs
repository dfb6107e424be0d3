/** Builds every package (`tsc -b`), the addon and what starts often (`bundle.mjs`). Run by `npm install` (prepare) and by `npm run build`. */
import { $ } from 'zx';

$.verbose = false;
$.stdio = 'inherit';
await $`npx tsc -b`;
// Within `npm install` the package has built it, and said it where there is no compiler.
if (process.env.npm_lifecycle_event !== 'prepare') await $`node ${import.meta.dirname}/../core/native/build.mjs`;
await $`node ${import.meta.dirname}/bundle.mjs`;
