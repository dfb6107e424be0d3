import { definePlugin } from '@kvad/core/plugin';
import { gated } from './parts/gated.js';
import { plain } from './parts/plain.js';

export default definePlugin({
  name: '@kvad/arch-shared-expert',
  apiVersion: 1,
  sharedExperts: [gated, plain],
  families: [],
});
