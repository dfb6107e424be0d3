/** Builds every package (`tsc -b`). Run by `npm install` (prepare) and by `npm run build`. */
import { $ } from 'zx';

$.verbose = false;
$.stdio = 'inherit';
await $`npx tsc -b`;
