import { definePlugin } from '@kvad/core/plugin';
import { gpt2 } from './families/gpt2.js';
import { llama } from './families/llama.js';
import { mistral } from './families/mistral.js';
import { qwen2 } from './families/qwen2.js';
import { qwen3 } from './families/qwen3.js';
import { attention } from './parts/attention.js';
import { glu } from './parts/glu.js';
import { mlp } from './parts/mlp.js';

export default definePlugin({
  name: '@kvad/arch-dense',
  apiVersion: 1,
  mixers: [attention],
  feedForwards: [glu, mlp],
  families: [gpt2, llama, mistral, qwen2, qwen3],
});
