import { definePlugin } from '@kvad/core/plugin';
import { ernie45Moe } from './families/ernie4_5_moe.js';
import { graniteMoeShared } from './families/granitemoeshared.js';
import { qwen2Moe } from './families/qwen2_moe.js';
import { gated } from './parts/gated.js';
import { plain } from './parts/plain.js';

export default definePlugin({
  name: '@kvad/arch-shared-expert',
  apiVersion: 1,
  sharedExperts: [gated, plain],
  families: [ernie45Moe, graniteMoeShared, qwen2Moe],
});
