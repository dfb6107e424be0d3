import { ALWAYS, BATCH_SIZE, KV_CACHE_DTYPE, LENIENT, PLUGIN, THREADS } from './flags.js';
import type { Command } from './table.js';

/** The row of `kvad bench` in the table of commands. */
export const BENCH = {
  about: 'how fast a model decodes and reads prompts here, beside what the memory allows',
  details:
    'The variants of a model are held in memory together and measured in turns; the first round is dropped. For each: median and full range of the rounds, the bytes of weights that a decoded token reads, and their rate as a share of the read bandwidth that a bare loop reaches between the variants. Where others use the processors it says so: such numbers are not to be compared. docs/performance.md says how each is made.',
  arguments: [
    {
      name: 'models',
      type: 'folder',
      required: false,
      many: true,
      about: 'folders of checkpoints; absent: the bundled model',
    },
  ],
  flags: [
    {
      type: 'file',
      name: 'plan',
      value: 'FILE',
      about: 'measure random weights of the shapes of this plan (kvad arch plan MODEL --json) instead of a model',
    },
    {
      type: 'text',
      name: 'quant',
      short: 'q',
      value: 'LIST',
      absent: 'bf16,q8,q4',
      about: 'precisions to measure, separated by commas: f32, bf16, q8, q4',
    },
    {
      type: 'switch',
      name: 'control',
      about: 'also q8 and q4 with activations that stay f32 (KVAD_DEQUANT=1: those alone)',
    },
    {
      type: 'switch',
      name: 'kernels',
      about: 'time single products and attention instead, each held against the reference',
    },
    { type: 'switch', name: 'beside-busy', about: 'also decode while another process keeps a processor busy' },
    { type: 'integer', name: 'rounds', value: 'N', min: 1, max: 1000, absent: '5', about: 'rounds that count' },
    {
      type: 'integer',
      name: 'prompt-tokens',
      value: 'N',
      min: 1,
      max: 1000000,
      absent: '512',
      about: 'length of the prompt',
    },
    {
      type: 'integer',
      name: 'decode-tokens',
      value: 'N',
      min: 1,
      max: 1000000,
      absent: '32',
      about: 'tokens to decode',
    },
    {
      type: 'integer',
      name: 'depth',
      value: 'N',
      min: 0,
      max: 1000000,
      absent: '0',
      about: 'tokens before those that are decoded',
    },
    THREADS,
    BATCH_SIZE,
    KV_CACHE_DTYPE,
    PLUGIN,
    LENIENT,
    ...ALWAYS,
  ],
  examples: [
    'kvad bench',
    'kvad bench ./my-model --quant q8,q4 --json',
    'kvad bench --plan plan.json --control',
    'kvad bench --kernels',
  ],
} as const satisfies Command;
