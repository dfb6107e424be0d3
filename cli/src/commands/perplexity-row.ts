import { ALWAYS, LOADING, MODEL } from './flags.js';
import type { Command } from './table.js';

/** The row of `kvad perplexity` in the table of commands. */
export const PERPLEXITY = {
  about: 'perplexity of a model on a text, and its KL divergence from a base',
  details:
    'The numbers are those of llama-perplexity: docs/scoring.md says how each is made. `chunks` cuts the text into windows and scores the second half of each; `sliding` scores every token but the first once. A base is written with `--kld-base-out` and compared with `--kld`; both kvad’s own and llama.cpp’s files are read. One newline at the end of FILE is dropped. A killed run goes on with `--resume` and the same arguments.',
  arguments: [{ name: 'file', type: 'file', required: false, about: 'a text in UTF-8; - reads it from stdin' }],
  flags: [
    {
      type: 'file',
      name: 'tokens',
      value: 'FILE',
      about: 'score these ids instead of a text: a JSON array, or the JSON of kvad tokenize',
    },
    MODEL,
    {
      type: 'choice',
      name: 'method',
      value: 'METHOD',
      choices: ['chunks', 'sliding'],
      absent: 'chunks',
      about: 'how the text is cut into windows',
    },
    {
      type: 'integer',
      name: 'ctx',
      short: 'c',
      value: 'N',
      min: 2,
      max: 2147483647,
      absent: '512',
      about: 'tokens of a window',
    },
    {
      type: 'integer',
      name: 'stride',
      value: 'N',
      min: 1,
      max: 2147483647,
      absent: '--ctx',
      about: 'tokens between the beginnings of two sliding windows, at most --ctx',
    },
    { type: 'integer', name: 'chunks', value: 'N', min: 1, max: 2147483647, absent: 'all', about: 'windows at most' },
    { type: 'file', name: 'kld', value: 'BASE', about: 'compare with this base' },
    { type: 'file', name: 'kld-base-out', value: 'BASE', about: 'write a base to compare with' },
    {
      type: 'choice',
      name: 'kld-format',
      value: 'FORMAT',
      choices: ['topk', 'full'],
      absent: 'topk',
      about: 'format of the base that is written: kvad’s own, or llama.cpp’s of the whole vocabulary',
    },
    {
      type: 'integer',
      name: 'kld-top-k',
      value: 'K',
      min: 1,
      max: 32,
      absent: '32',
      about: 'likeliest tokens that a topk base keeps',
    },
    { type: 'switch', name: 'force', about: 'replace a base that exists' },
    { type: 'file', name: 'output', short: 'o', value: 'FILE', about: 'also write the JSON to this file' },
    { type: 'switch', name: 'token-ids', about: 'put the ids into the JSON' },
    { type: 'switch', name: 'no-windows', about: 'leave the windows out of the JSON' },
    { type: 'switch', name: 'resume', about: 'go on with a run of the same arguments that was interrupted' },
    {
      type: 'switch',
      name: 'parse-special',
      about: 'special tokens written in the text are those tokens, not text',
    },
    ...LOADING,
    ...ALWAYS,
  ],
  examples: [
    'kvad perplexity text.txt --model ./my-model --ctx 512',
    'kvad perplexity text.txt --model ./my-model --quant f32 --kld-base-out my-model.kld',
    'kvad perplexity text.txt --model ./my-model --quant q4 --kld my-model.kld --json',
  ],
} as const satisfies Command;
