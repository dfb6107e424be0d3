import { definePlugin } from '@kvad/core/plugin';
import { olmoHybrid } from './families/olmo_hybrid.js';
import { qwen35 } from './families/qwen3_5.js';
import { qwen35Moe } from './families/qwen3_5_moe.js';
import { qwen3Next } from './families/qwen3_next.js';
import { gatedDeltaNet } from './parts/gated-delta-net.js';

export default definePlugin({
  name: '@kvad/arch-delta-net',
  apiVersion: 1,
  mixers: [gatedDeltaNet],
  families: [olmoHybrid, qwen35, qwen35Moe, qwen3Next],
});
