import { definePlugin } from '@kvad/core/plugin';
import { mixtral } from './families/mixtral.js';
import { moe } from './parts/moe.js';
import { sigmoidRouter } from './parts/sigmoid-router.js';
import { softmaxRouter } from './parts/softmax-router.js';

export default definePlugin({
  name: '@kvad/arch-moe',
  apiVersion: 1,
  feedForwards: [moe],
  routers: [sigmoidRouter, softmaxRouter],
  families: [mixtral],
});
