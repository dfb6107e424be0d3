import type { Argument, ArgumentsOf, Flag, OptionsOf } from './flag.js';
import {
  ALLOW_REFERENCE,
  ALWAYS,
  BATCH_SIZE,
  LENIENT,
  LOADING,
  MODEL,
  PLUGIN,
  REQUIRE_NATIVE,
  QUANT,
  THREADS,
} from './flags.js';
import { ARCH_ADD, ARCH_CHECK, ARCH_LIST, ARCH_NEW, ARCH_REMOVE } from './arch-rows.js';
import { BENCH } from './bench-row.js';
import { CACHE, CACHE_CLEAR } from './cache-rows.js';
import { DOCTOR, LS, PULL, RM, SEARCH, USE } from './hub-rows.js';
import { CHAT } from './chat-row.js';
import { PERPLEXITY } from './perplexity-row.js';
import { SAMPLING } from './sampling-row.js';

/**
 * The one table of commands and flags. The parser (`program.ts`), help, shell completion (`completion-scripts.ts`)
 * and docs/cli.md (`reference-page.ts`) are made from it; `actions.ts` names the code behind each command.
 * It is data only, so that reading it costs nothing.
 */
export interface Command {
  readonly about: string;
  /** More than one line can say; for docs/cli.md. */
  readonly details?: string;
  readonly arguments: readonly Argument[];
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
}

const OPTIONAL_MODEL = {
  name: 'model',
  type: 'model',
  required: false,
  about: 'folder of a checkpoint, or owner/name[@revision]; absent: that of kvad use, else the bundled one',
} as const satisfies Argument;

const REQUIRED_MODEL = {
  name: 'model',
  type: 'model',
  required: true,
  about: 'folder of a checkpoint, or owner/name[@revision]',
} as const satisfies Argument;

export const COMMANDS = {
  search: SEARCH,
  pull: PULL,
  ls: LS,
  use: USE,
  rm: RM,
  run: {
    about: 'complete a prompt; the answer goes to stdout as it is made',
    details:
      "With a chat template the prompt is a turn of the user unless `--raw`. A sampling value is taken from its flag, else from the model's generation_config.json, else the default shown here. `kvad --prompt TEXT` is the same as `kvad run --prompt TEXT`.",
    arguments: [],
    flags: [
      { type: 'text', name: 'prompt', short: 'p', value: 'TEXT', about: 'what to complete; - reads it from stdin' },
      MODEL,
      { type: 'text', name: 'system', short: 's', value: 'TEXT', about: 'a system message before the prompt' },
      { type: 'switch', name: 'raw', about: 'continue the text as it is, without the chat template' },
      ...SAMPLING,
      {
        type: 'integer',
        name: 'logprobs',
        value: 'N',
        min: 1,
        max: 20,
        absent: 'none',
        about: 'log-probabilities of each token and of the N likeliest: on stderr, or in the JSON',
      },
      { type: 'switch', name: 'echo', about: 'print the prompt first' },
      ...LOADING,
      ...ALWAYS,
    ],
    examples: [
      'kvad run --prompt "Tell me a story about a fox and a lantern"',
      'kvad run --raw --prompt "Once upon a time" --greedy --max-tokens 64',
      'cat question.txt | kvad run --model ./my-model --prompt - --json',
    ],
  },
  chat: CHAT,
  info: {
    about: 'shape, parameters, memory and text side of a model, from its config and headers alone',
    arguments: [OPTIONAL_MODEL],
    flags: [MODEL, PLUGIN, LENIENT, ...ALWAYS],
    examples: ['kvad info', 'kvad info ./my-model --json'],
  },
  arch: {
    about: 'list the plugins and the model families that they bring',
    arguments: [],
    flags: [PLUGIN, ...ALWAYS],
    examples: ['kvad arch', 'kvad arch --plugin ./my-plugin'],
  },
  'arch show': {
    about: 'one family: its axes, config keys and weight names',
    arguments: [{ name: 'type', type: 'model-type', required: true, about: 'a model_type' }],
    flags: [PLUGIN, ...ALWAYS],
    examples: ['kvad arch show TYPE'],
  },
  'arch plan': {
    about: 'the layer plan that a config becomes',
    details:
      'A summary with equal layers collapsed; with `--json` the plan itself (schemas/json/model-plan.schema.json), with `--json --audit` an object of the plan and the audit of config keys.',
    arguments: [{ ...REQUIRED_MODEL, about: 'folder of a checkpoint, owner/name[@revision], or a config.json' }],
    flags: [
      { type: 'switch', name: 'audit', about: 'also what became of each key of config.json' },
      PLUGIN,
      LENIENT,
      ...ALWAYS,
    ],
    examples: ['kvad arch plan ./my-model', 'kvad arch plan ./config.json --audit'],
  },
  'arch verify': {
    about: 'compare logits with the reference.safetensors of each folder',
    details:
      'Runs each checkpoint in f32 with an f32 KV cache, at every position of both prompts, and compares with the published implementation (docs/examples/make-reference.py writes what it gives). A folder without a reference is compared with itself: finite logits, the same in chunks, after a cut, and on native and reference arithmetic; that says that it is consistent, not that it is right. Exit code 0 if all pass. Weights that are absent are made from weights.recipe.json in a temporary folder.',
    arguments: [
      {
        name: 'folders',
        type: 'folder',
        required: true,
        many: true,
        about: 'folders of checkpoints, with or without reference.safetensors',
      },
    ],
    flags: [THREADS, PLUGIN, ALLOW_REFERENCE, REQUIRE_NATIVE, ...ALWAYS],
    examples: ['kvad arch verify test/fixtures/dense-core/*', 'kvad arch verify ./my-model --json'],
  },
  'arch check': ARCH_CHECK,
  'arch new': ARCH_NEW,
  'arch add': ARCH_ADD,
  'arch remove': ARCH_REMOVE,
  'arch list': ARCH_LIST,
  logits: {
    about: 'all logits of given token ids, as a safetensors file',
    details: 'The file holds `input_ids` I64 [n] and `logits` F32 [n, vocab].',
    arguments: [REQUIRED_MODEL],
    flags: [
      {
        type: 'file',
        name: 'tokens',
        value: 'FILE',
        about: 'a JSON array of ids, or the JSON of kvad tokenize; - reads stdin',
      },
      { type: 'file', name: 'out', short: 'o', value: 'FILE', about: 'the safetensors file to write' },
      QUANT,
      THREADS,
      BATCH_SIZE,
      {
        type: 'choice',
        name: 'kv-cache-dtype',
        value: 'TYPE',
        choices: ['f32', 'f16'],
        absent: 'f32, since this is for comparing',
        about: 'element type of the KV cache',
      },
      PLUGIN,
      LENIENT,
      ALLOW_REFERENCE,
      REQUIRE_NATIVE,
      ...ALWAYS,
    ],
    examples: [
      'kvad tokenize "Once upon a time" --json > ids.json',
      'kvad logits ./my-model --tokens ids.json --out logits.safetensors',
    ],
  },
  perplexity: PERPLEXITY,
  tokenize: {
    about: 'the token ids of a text',
    details: 'As a raw prompt is encoded: special tokens stand before it only if the tokenizer says so.',
    arguments: [{ name: 'text', type: 'text', required: true, about: 'the text; - reads it from stdin' }],
    flags: [MODEL, ...ALWAYS],
    examples: ['kvad tokenize "Once upon a time"'],
  },
  render: {
    about: 'the exact prompt that a conversation becomes',
    arguments: [OPTIONAL_MODEL],
    flags: [
      {
        type: 'file',
        name: 'messages',
        value: 'FILE',
        about: 'JSON: a list of messages, or an object with messages and tools; - reads stdin',
      },
      MODEL,
      { type: 'file', name: 'template', value: 'FILE', absent: "the model's own", about: 'a chat template' },
      { type: 'file', name: 'tools', value: 'FILE', about: 'JSON: a list of tools' },
      { type: 'switch', name: 'no-generation-prompt', about: 'end after the last message' },
      {
        type: 'text',
        name: 'var',
        value: 'KEY=VALUE',
        many: true,
        about: 'a variable of the template; JSON where it parses, else text',
      },
      ...ALWAYS,
    ],
    examples: [
      'kvad render --messages chat.json',
      'kvad render ./my-model --messages chat.json --var enable_thinking=false --json',
    ],
  },
  doctor: DOCTOR,
  bench: BENCH,
  cache: CACHE,
  'cache clear': CACHE_CLEAR,
  completions: {
    about: 'a script that makes the shell complete commands and flags',
    arguments: [
      { name: 'shell', type: 'choice', required: true, choices: ['bash', 'zsh', 'fish'], about: 'which shell' },
    ],
    flags: [...ALWAYS],
    examples: ['source <(kvad completions bash)', 'kvad completions fish > ~/.config/fish/completions/kvad.fish'],
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export type Options<Name extends CommandName> = OptionsOf<(typeof COMMANDS)[Name]['flags']>;
export type Arguments<Name extends CommandName> = ArgumentsOf<(typeof COMMANDS)[Name]['arguments']>;

/** Environment variables that the commands read. */
export const ENVIRONMENT = [
  { name: 'KVAD_THREADS', about: 'threads that compute; --threads stands before it' },
  { name: 'KVAD_REQUIRE_NATIVE', about: '1: refuse to run on the reference arithmetic' },
  { name: 'HF_HOME', about: 'home of the Hugging Face cache, shared with Python (default ~/.cache/huggingface)' },
  { name: 'HF_HUB_CACHE', about: 'where models lie (default $HF_HOME/hub)' },
  { name: 'HF_TOKEN', about: 'for gated and private models; else what hf auth login wrote is read' },
  { name: 'HF_ENDPOINT', about: 'the Hub (default https://huggingface.co); the token goes nowhere else' },
  { name: 'HF_HUB_OFFLINE', about: '1: no connection is opened' },
  { name: 'XDG_CONFIG_HOME', about: 'kvad use writes $XDG_CONFIG_HOME/kvad/state.json (default ~/.config)' },
  { name: 'XDG_DATA_HOME', about: "the user's plugins lie in $XDG_DATA_HOME/kvad/plugins (default ~/.local/share)" },
  { name: 'NO_COLOR', about: 'set: no colour, also on a terminal' },
] as const;

export const EXIT_CODES = [
  { code: 0, about: 'done' },
  { code: 1, about: 'an error, or a comparison that failed' },
  { code: 2, about: 'the command line was not understood' },
  { code: 130, about: 'interrupted (Ctrl-C): what was made so far has been printed' },
] as const;
