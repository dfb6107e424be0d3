import { definePlugin } from '@kvad/core/plugin';
import { apertus } from './families/apertus.js';
import { arcee } from './families/arcee.js';
import { bitnet } from './families/bitnet.js';
import { bloom } from './families/bloom.js';
import { codegen } from './families/codegen.js';
import { cohere } from './families/cohere.js';
import { cohere2 } from './families/cohere2.js';
import { ernie45 } from './families/ernie4_5.js';
import { exaone4 } from './families/exaone4.js';
import { falcon } from './families/falcon.js';
import { gemma } from './families/gemma.js';
import { gemma2 } from './families/gemma2.js';
import { gemma3Text } from './families/gemma3_text.js';
import { glm } from './families/glm.js';
import { glm4 } from './families/glm4.js';
import { gpt2 } from './families/gpt2.js';
import { gptBigcode } from './families/gpt_bigcode.js';
import { gptNeo } from './families/gpt_neo.js';
import { gptNeox } from './families/gpt_neox.js';
import { gptj } from './families/gptj.js';
import { granite } from './families/granite.js';
import { helium } from './families/helium.js';
import { hunyuanV1Dense } from './families/hunyuan_v1_dense.js';
import { llama } from './families/llama.js';
import { ministral } from './families/ministral.js';
import { ministral3 } from './families/ministral3.js';
import { mistral } from './families/mistral.js';
import { mpt } from './families/mpt.js';
import { nanochat } from './families/nanochat.js';
import { nemotron } from './families/nemotron.js';
import { olmo } from './families/olmo.js';
import { olmo2 } from './families/olmo2.js';
import { olmo3 } from './families/olmo3.js';
import { opt } from './families/opt.js';
import { persimmon } from './families/persimmon.js';
import { phi } from './families/phi.js';
import { phi3 } from './families/phi3.js';
import { qwen2 } from './families/qwen2.js';
import { qwen3 } from './families/qwen3.js';
import { seedOss } from './families/seed_oss.js';
import { smollm3 } from './families/smollm3.js';
import { stablelm } from './families/stablelm.js';
import { starcoder2 } from './families/starcoder2.js';
import { vaultgemma } from './families/vaultgemma.js';
import { attention } from './parts/attention.js';
import { glu } from './parts/glu.js';
import { mlp } from './parts/mlp.js';

export default definePlugin({
  name: '@kvad/arch-dense',
  apiVersion: 1,
  mixers: [attention],
  feedForwards: [glu, mlp],
  families: [
    apertus,
    arcee,
    bitnet,
    bloom,
    codegen,
    cohere,
    cohere2,
    ernie45,
    exaone4,
    falcon,
    gemma,
    gemma2,
    gemma3Text,
    glm,
    glm4,
    gpt2,
    gptBigcode,
    gptNeo,
    gptNeox,
    gptj,
    granite,
    helium,
    hunyuanV1Dense,
    llama,
    ministral,
    ministral3,
    mistral,
    mpt,
    nanochat,
    nemotron,
    olmo,
    olmo2,
    olmo3,
    opt,
    persimmon,
    phi,
    phi3,
    qwen2,
    qwen3,
    seedOss,
    smollm3,
    stablelm,
    starcoder2,
    vaultgemma,
  ],
});
