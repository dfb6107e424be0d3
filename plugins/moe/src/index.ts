import { definePlugin } from '@kvad/core/plugin';
import { dots1 } from './families/dots1.js';
import { flexOlmo } from './families/flex_olmo.js';
import { glm4Moe } from './families/glm4_moe.js';
import { gptOss } from './families/gpt_oss.js';
import { graniteMoe } from './families/granitemoe.js';
import { minimaxM2 } from './families/minimax_m2.js';
import { mixtral } from './families/mixtral.js';
import { olmoe } from './families/olmoe.js';
import { qwen3Moe } from './families/qwen3_moe.js';
import { moe } from './parts/moe.js';
import { sigmoidRouter } from './parts/sigmoid-router.js';
import { softmaxRouter } from './parts/softmax-router.js';

export default definePlugin({
  name: '@kvad/arch-moe',
  apiVersion: 1,
  feedForwards: [moe],
  routers: [sigmoidRouter, softmaxRouter],
  families: [dots1, flexOlmo, glm4Moe, gptOss, graniteMoe, minimaxM2, mixtral, olmoe, qwen3Moe],
});
