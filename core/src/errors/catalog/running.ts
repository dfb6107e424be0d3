import { entry } from './entry.js';

/** Sampling, sessions, and the arithmetic that runs. */
export const RUNNING_ERRORS = {
  KVAD_E_OPTION: entry<{ option: string; value: string; expected: string }>(
    (p) => `${p.option} is ${p.value}, expected ${p.expected}`,
    (p) => `give ${p.option} a value in its range`,
  ),
  KVAD_E_NAN: entry<{ id: number; value: string }>(
    (p) => `the logits of this position are not numbers to sample from: token ${p.id} has ${p.value}`,
    'run kvad arch verify on the model folder, and load it as stored (without --quant) to see whether precision is the cause',
  ),
  KVAD_E_TOKEN_ID: entry<{ id: number; vocabSize: number }>(
    (p) => `token id ${p.id} is outside the vocabulary of ${p.vocabSize}`,
    'tokenize the text with the tokenizer of this model',
  ),
  KVAD_E_CONTEXT: entry<{ tokens: number; contextLength: number }>(
    (p) => `${p.tokens} tokens do not fit the context of ${p.contextLength}`,
    'shorten the prompt or the conversation',
  ),
  KVAD_E_BENCH_MEMORY: entry<{ model: string; variants: readonly string[]; needed: number; available: number }>(
    (p) =>
      `${p.model} as ${p.variants.join(', ')} needs ${(p.needed / 1e9).toFixed(1)} GB at once, ${(p.available / 1e9).toFixed(1)} GB are free`,
    'measure fewer variants at once (--quant), or free memory',
  ),
  KVAD_E_PROMPT_EMPTY: entry<{ prompt: string }>(
    (p) => `the prompt (${p.prompt}) has no tokens and the tokenizer adds none`,
    'give at least one character or token id',
  ),
  KVAD_E_TEMPLATE_MISSING: entry<{ directory: string }>(
    (p) => `${p.directory} has no chat template: it is a base model, which continues text and knows no turns`,
    'give a raw text (kvad run --raw), or choose an instruct model',
  ),
  KVAD_E_SNAPSHOT: entry<{ id: number }>(
    (p) => `snapshot ${p.id} is not one of this session`,
    'restore a snapshot on the session that took it, before it is closed',
  ),
  KVAD_E_CLOSED: entry<{ what: string }>(
    (p) => `the ${p.what} has been closed`,
    'load the model or open the session again',
  ),
  KVAD_E_WORKER: entry<{ directory: string; reason: string }>(
    (p) => `the worker of ${p.directory} stopped: ${p.reason}`,
    'load the model again; if it stops again, report it with the output of --debug',
  ),
  KVAD_E_REFERENCE_TOO_SLOW: entry<{ directory: string; parameters: number; limit: number }>(
    (p) =>
      `${p.directory} has ${p.parameters} parameters, more than ${p.limit} run too slowly on the reference arithmetic, and the native one is not there`,
    'install a C++ compiler and reinstall kvad, or pass --allow-reference',
  ),
  KVAD_E_NATIVE_MISSING: entry<{ kernels: string }>(
    (p) => `native arithmetic is required, but ${p.kernels} is what this installation has`,
    'install a C++ compiler and reinstall kvad, or run without --require-native',
  ),
  KVAD_E_F16_RANGE: entry<{ value: number }>(
    (p) => `f16 cannot hold the weight ${p.value}`,
    'run the weights as stored, or as bf16, which has the range of f32',
  ),
  KVAD_E_KERNELS: entry<{ wanted: string; available: readonly string[] }>(
    (p) => `KVAD_CPU asks for the kernels "${p.wanted}"; this machine runs ${p.available.join(', ')}`,
    'set KVAD_CPU to one of them, or leave it out',
  ),
  KVAD_E_QUANT_RANGE: entry<{ precision: string; blocks: number }>(
    (p) =>
      `${p.precision} cannot hold ${p.blocks} blocks of a weight matrix: their values are not numbers, or their scales are beyond float16`,
    'run the weights as stored, or as bf16, which has the range of f32',
  ),
  KVAD_E_QUANT_UNSUPPORTED: entry<{ precision: string; kernels: string }>(
    (p) => `the ${p.kernels} arithmetic cannot hold weights as ${p.precision}`,
    'leave --quant out to run the weights as stored, or pass --quant bf16 or f32',
  ),
} as const;
