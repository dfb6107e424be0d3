import { definePlugin } from '@kvad/core/plugin';
import { deepseekV2 } from './families/deepseek_v2.js';
import { deepseekV3 } from './families/deepseek_v3.js';
import { glm4MoeLite } from './families/glm4_moe_lite.js';
import { mla } from './parts/mla.js';

export default definePlugin({
  name: '@kvad/arch-mla',
  apiVersion: 1,
  mixers: [mla],
  families: [deepseekV2, deepseekV3, glm4MoeLite],
});
