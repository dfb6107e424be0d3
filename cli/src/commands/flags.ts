import type { Flag } from './flag.js';

/** Flags that several commands share; a flag of one command stands in the table. */

export const JSON_FLAG = {
  type: 'switch',
  name: 'json',
  about: 'one JSON object on stdout; an error is one JSON object on stderr',
} as const satisfies Flag;

export const DEBUG = {
  type: 'switch',
  name: 'debug',
  about: 'print the stack of an error and its causes',
} as const satisfies Flag;

export const MODEL = {
  type: 'text',
  name: 'model',
  short: 'm',
  value: 'MODEL',
  absent: 'that of kvad use, else the bundled one',
  about: 'folder of a checkpoint, or a model of the cache: owner/name[@revision]',
} as const satisfies Flag;

export const PLUGIN = {
  type: 'text',
  name: 'plugin',
  value: 'PLUGIN',
  many: true,
  about: 'also use this plugin (a folder or a package); may be repeated',
} as const satisfies Flag;

export const LENIENT = {
  type: 'switch',
  name: 'lenient',
  about: 'run although config.json has keys that nobody knows; each is a warning',
} as const satisfies Flag;

export const QUANT = {
  type: 'choice',
  name: 'quant',
  short: 'q',
  value: 'PRECISION',
  choices: ['f32', 'bf16', 'q8', 'q4'],
  absent: 'as stored',
  about: 'how matrices are held',
} as const satisfies Flag;

export const THREADS = {
  type: 'integer',
  name: 'threads',
  short: 't',
  value: 'N',
  min: 1,
  max: 256,
  absent: 'KVAD_THREADS, else the physical cores',
  about: 'threads that compute',
} as const satisfies Flag;

export const BATCH_SIZE = {
  type: 'integer',
  name: 'batch-size',
  value: 'N',
  min: 1,
  max: 65536,
  absent: '512',
  about: 'tokens of a prompt that are computed at once',
} as const satisfies Flag;

export const KV_CACHE_DTYPE = {
  type: 'choice',
  name: 'kv-cache-dtype',
  value: 'TYPE',
  choices: ['f16', 'f32'],
  absent: 'f16',
  about: 'element type of the KV cache',
} as const satisfies Flag;

export const ALLOW_REFERENCE = {
  type: 'switch',
  name: 'allow-reference',
  about: 'run a model of more than 300 M parameters on the slow reference arithmetic',
} as const satisfies Flag;

export const REQUIRE_NATIVE = {
  type: 'switch',
  name: 'require-native',
  about: 'refuse to run on the reference arithmetic (also KVAD_REQUIRE_NATIVE=1)',
} as const satisfies Flag;

/** What decides how a model is loaded. */
export const LOADING = [
  QUANT,
  THREADS,
  BATCH_SIZE,
  KV_CACHE_DTYPE,
  PLUGIN,
  LENIENT,
  ALLOW_REFERENCE,
  REQUIRE_NATIVE,
] as const;

/** Every command has these. */
export const ALWAYS = [JSON_FLAG, DEBUG] as const;
