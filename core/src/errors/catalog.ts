/**
 * The catalogue of errors. `docs/errors.md` holds a section for each; a test keeps both equal and checks that each
 * code is raised somewhere. A message is one sentence with the offending value and file; a hint is one action.
 */
interface Entry<P> {
  message(params: P): string;
  hint(params: P): string;
}

const entry = <P>(message: (params: P) => string, hint: string | ((params: P) => string)): Entry<P> => ({
  message,
  hint: typeof hint === 'string' ? () => hint : hint,
});

const list = (values: readonly string[], most = 8): string =>
  values.length <= most ? values.join(', ') : `${values.slice(0, most).join(', ')} and ${values.length - most} more`;

export const CATALOG = {
  // --- architecture ---------------------------------------------------------------------------
  KVAD_E_ARCH_UNKNOWN: entry<{
    value: string;
    key: string;
    file: string;
    nearest: readonly string[];
    known: readonly string[];
  }>(
    (p) => `no plugin claims ${p.key} "${p.value}" (${p.file}); known: ${list(p.known, 200)}`,
    (p) =>
      p.nearest.length > 0
        ? `the nearest known type is ${list(p.nearest)}; to add one: kvad arch add <package> (npm search keywords:kvad-plugin)`
        : 'add a plugin with kvad arch add <package> (npm search keywords:kvad-plugin), or write one: docs/writing-a-plugin.md',
  ),
  // --- config ---------------------------------------------------------------------------------
  KVAD_E_CONFIG_UNKNOWN_KEY: entry<{
    keys: readonly string[];
    values: readonly string[];
    file: string;
    family: string;
  }>(
    (p) => `${p.family} does not know ${p.keys.map((k, i) => `"${k}": ${p.values[i]}`).join(', ')} in ${p.file}`,
    'the key may change the arithmetic: look for a newer plugin, or pass --lenient to run without it and be warned',
  ),
  // --- plugins --------------------------------------------------------------------------------
  KVAD_E_PLUGIN: entry<{ plugin: string; reason: string }>(
    (p) => `plugin ${p.plugin} failed: ${p.reason}`,
    'this is a bug of the plugin: report it to its author with the output of --debug',
  ),
  // --- parts and plans ------------------------------------------------------------------------
  KVAD_E_PART_UNKNOWN: entry<{ axis: string; kind: string; known: readonly string[] }>(
    (p) => `no plugin brings the ${p.axis} "${p.kind}"; known: ${p.known.length > 0 ? list(p.known, 60) : 'none'}`,
    'install the plugin that brings it (kvad arch add <package>), or name it with --plugin',
  ),
  KVAD_E_PART_TWICE: entry<{ axis: string; kind: string }>(
    (p) => `two plugins bring the ${p.axis} "${p.kind}"`,
    'remove one of them (kvad arch lists plugins and what they bring)',
  ),
  KVAD_E_PLAN_OPTIONS: entry<{ axis: string; kind: string; path: string; reason: string }>(
    (p) => `the ${p.axis} "${p.kind}" refuses its options: ${p.path} ${p.reason}`,
    'compare the plan (kvad arch plan) with the options that kvad arch show lists for this kind',
  ),
  KVAD_E_PLAN_SLOT: entry<{ slot: string }>(
    (p) => `two weights of the plan have the name ${p.slot}`,
    'this is a bug of the family or part that made the plan: report it with the output of kvad arch plan',
  ),
  KVAD_E_PLAN_SCHEDULE: entry<{ visit: number; reason: string }>(
    (p) => `visit ${p.visit} of the plan's schedule ${p.reason}`,
    'this is a bug of the family that made the plan: report it with the output of kvad arch plan',
  ),
  // --- running --------------------------------------------------------------------------------
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
  KVAD_E_PROMPT_EMPTY: entry<{ prompt: string }>(
    (p) => `the prompt (${p.prompt}) has no tokens and the tokenizer adds none`,
    'give at least one character or token id',
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
  // --- command line ---------------------------------------------------------------------------
  KVAD_E_USAGE: entry<{ problem: string; command: string }>(
    (p) => p.problem,
    (p) => `kvad ${p.command === '' ? '' : `${p.command} `}--help lists what it takes`,
  ),
  KVAD_E_MODEL_NOT_FOUND: entry<{ model: string; reason: string; hint: string }>(
    (p) => `there is no model ${p.model}: ${p.reason}`,
    (p) => p.hint,
  ),
  KVAD_E_FILE: entry<{ action: 'read' | 'write'; file: string; reason: string }>(
    (p) => `cannot ${p.action} ${p.file}: ${p.reason}`,
    'check the path and its permissions',
  ),
  KVAD_E_INPUT_JSON: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is not JSON: ${p.reason}`,
    'write the file as JSON: no comments, no commas before a closing bracket',
  ),
  KVAD_E_INPUT_SHAPE: entry<{ file: string; found: string; expected: string }>(
    (p) => `${p.file} holds ${p.found}, expected ${p.expected}`,
    'docs/cli.md shows the form of each file that a command reads',
  ),
  KVAD_E_INTERNAL: entry<{ reason: string }>(
    (p) => `kvad itself failed: ${p.reason}`,
    'this is a bug of kvad: run it again with --debug and report the whole output with the command and kvad --version',
  ),
} as const;

export type ErrorCode = keyof typeof CATALOG;
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof CATALOG)[C]['message']>[0];
export { list };
