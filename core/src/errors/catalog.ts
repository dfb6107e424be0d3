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

interface WeightReport {
  readonly directory: string;
  /** What probably happened. */
  readonly diagnosis: string | null;
  /** Findings, collapsed by layer: `missing 30 (model.layers.{0-29}.mlp.up_proj.weight)`. */
  readonly findings: readonly string[];
}

const weightReport = (p: WeightReport): string =>
  [...(p.diagnosis === null ? [] : [p.diagnosis]), ...p.findings].join('; ');

/** A value as JSON, cut where it would fill the screen. */
const shortJson = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value);
  return json.length <= 120 ? json : `${json.slice(0, 117)}...`;
};

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
  KVAD_E_ARCH_MISSING: entry<{ file: string; found: string }>(
    (p) => `${p.file} names no architecture: "model_type" is ${p.found}`,
    'give the config.json of a language model; its "model_type" is the name of its architecture',
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
  KVAD_E_CONFIG_READ: entry<{ file: string; reason: string }>(
    (p) => `${p.file} cannot be read as a config: ${p.reason}`,
    'give the config.json of a model, as its publisher wrote it',
  ),
  KVAD_E_CONFIG_INVALID: entry<{
    problems: readonly { readonly key: string; readonly value: string | null; readonly rule: string }[];
    file: string;
    family: string;
  }>(
    (p) =>
      `${p.file} is no config of ${p.family}: ${p.problems
        .map(({ key, value, rule }) => `"${key}" must ${rule}${value === null ? '' : `, not ${value}`}`)
        .join('; ')}`,
    'compare the file with the one that the model was published with',
  ),
  KVAD_E_CONFIG_VALUE: entry<{ key: string; value: string; reason: string; file: string; family: string }>(
    (p) => `${p.family} cannot run "${p.key}": ${p.value}, which ${p.reason} (${p.file})`,
    'run a model without it, or look for a plugin that plans it',
  ),
  KVAD_E_CONFIG_CONFLICT: entry<{ keys: readonly [string, string]; values: readonly [string, string]; file: string }>(
    (p) =>
      `"${p.keys[0]}": ${p.values[0]} and "${p.keys[1]}": ${p.values[1]} in ${p.file} say different things of one value`,
    (p) => `remove the one that is wrong: "${p.keys[0]}" or "${p.keys[1]}"`,
  ),
  KVAD_E_CONFIG_QUANTIZED: entry<{ scheme: string; key: string; file: string }>(
    (p) => `the checkpoint is quantised by ${p.scheme} ("${p.key}" in ${p.file}), which kvad does not read`,
    'use the unquantised checkpoint of the same model; --quant q8 or q4 makes it as small',
  ),
  KVAD_E_PLAN_INVALID: entry<{ family: string; path: string; reason: string; file: string }>(
    (p) => `${p.family} makes no valid plan of ${p.file}: ${p.path === '' ? 'it' : p.path} ${p.reason}`,
    'report it to the author of the plugin, with the config',
  ),
  // --- model folders and checkpoints ------------------------------------------------------------
  KVAD_E_MODEL_FOLDER_ABSENT: entry<{ directory: string }>(
    (p) => `there is no folder ${p.directory}`,
    'check the path; a model of the Hub is downloaded with kvad pull owner/name',
  ),
  KVAD_E_MODEL_FOLDER_NOT_A_FOLDER: entry<{ directory: string }>(
    (p) => `${p.directory} is a file, not a model folder`,
    'give the folder that holds config.json and the safetensors files',
  ),
  KVAD_E_MODEL_FOLDER_NO_CONFIG: entry<{ directory: string; files: readonly string[] }>(
    (p) => `${p.directory} has no config.json; ${p.files.length === 0 ? 'it is empty' : `it holds ${list(p.files)}`}`,
    'give the folder that holds config.json and the safetensors files',
  ),
  KVAD_E_MODEL_FOLDER_FORMAT: entry<{ directory: string; what: string; action: string }>(
    (p) => `${p.directory} holds ${p.what}`,
    (p) => p.action,
  ),
  KVAD_E_MODEL_FOLDER_NO_WEIGHTS: entry<{ directory: string; files: readonly string[] }>(
    (p) =>
      `${p.directory} has no safetensors file; ${p.files.length === 0 ? 'it is empty' : `it holds ${list(p.files)}`}`,
    'download the weights too: kvad pull owner/name',
  ),
  KVAD_E_MODEL_FOLDER_AMBIGUOUS: entry<{ directory: string; files: readonly string[] }>(
    (p) =>
      `${p.directory} has several safetensors files and no index that tells which make the model: ${list(p.files)}`,
    'keep one of them as model.safetensors, or add model.safetensors.index.json',
  ),
  KVAD_E_SAFETENSORS_READ: entry<{ file: string; reason: string }>(
    (p) => `${p.file} cannot be read: ${p.reason}`,
    'check that the file is there, may be read, and is not being written at the moment',
  ),
  KVAD_E_SAFETENSORS_FOREIGN: entry<{ file: string; looksLike: string; action: string }>(
    (p) => `${p.file} is not a safetensors file: it is ${p.looksLike}`,
    (p) => p.action,
  ),
  KVAD_E_SAFETENSORS_TRUNCATED: entry<{ file: string; size: number; expected: number | null }>(
    (p) =>
      p.expected === null
        ? `${p.file} has only ${p.size} bytes, too few for a safetensors file`
        : `${p.file} is cut off: ${p.expected - p.size} of ${p.expected} bytes are missing`,
    'download it again; kvad pull resumes what is there',
  ),
  KVAD_E_SAFETENSORS_TRAILING: entry<{ file: string; extra: number; expected: number }>(
    (p) => `${p.file} has ${p.extra} bytes behind its last tensor, which ends at byte ${p.expected}`,
    'the file is damaged: download it again',
  ),
  KVAD_E_SAFETENSORS_HEADER: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is no valid safetensors file: ${p.reason}`,
    'the file is damaged or was written by a faulty program: download it again or save it anew',
  ),
  KVAD_E_SAFETENSORS_TENSOR: entry<{ file: string; tensor: string; reason: string }>(
    (p) => `tensor "${p.tensor}" of ${p.file} is not valid: ${p.reason}`,
    'the file is damaged or was written by a faulty program: download it again or save it anew',
  ),
  KVAD_E_SAFETENSORS_INDEX: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is no valid index of shards: ${p.reason}`,
    'the index does not belong to these shards: download index and shards again, from one revision',
  ),
  KVAD_E_SAFETENSORS_SHARD_MISSING: entry<{
    directory: string;
    index: string | null;
    shards: readonly string[];
    beside: readonly string[];
  }>(
    (p) =>
      `${p.directory} lacks ${p.shards.length === 1 ? 'the shard' : `${p.shards.length} shards:`} ${list(p.shards)}` +
      (p.index === null ? '' : `, which ${p.index} names`),
    (p) =>
      p.beside.length > 0
        ? `${list(p.beside)} is there and not named by the index: if it holds the whole model, delete the index`
        : 'download the rest with kvad pull, which keeps what is there',
  ),
  // --- weights ------------------------------------------------------------------------------------
  KVAD_E_WEIGHTS_MISSING: entry<WeightReport>(
    (p) => `the weights in ${p.directory} do not fill the model: ${weightReport(p)}`,
    'check that config.json and the safetensors files are of the same model and revision',
  ),
  KVAD_E_WEIGHTS_UNEXPECTED: entry<WeightReport>(
    (p) => `the weights in ${p.directory} hold tensors that the model has no place for: ${weightReport(p)}`,
    'a weight that is not used changes the result: check that config.json belongs to these files',
  ),
  KVAD_E_WEIGHTS_SHAPE: entry<WeightReport>(
    (p) => `weights in ${p.directory} have other shapes than config.json tells: ${weightReport(p)}`,
    'check that config.json and the safetensors files are of the same model and revision',
  ),
  KVAD_E_WEIGHTS_UNREADABLE: entry<WeightReport>(
    (p) => `weights in ${p.directory} are stored in a type that kvad does not read: ${weightReport(p)}`,
    'take the model in float32, float16 or bfloat16 and quantise with --quant',
  ),
  KVAD_E_WEIGHTS_TIED: entry<{ directory: string; head: string; embedding: string; difference: string }>(
    (p) =>
      `config.json ties the head to the embedding, but ${p.directory} has ${p.head} that is not ${p.embedding}: ${p.difference}`,
    'set tie_word_embeddings to false in config.json if the model was trained with a head of its own',
  ),
  KVAD_E_WEIGHTS_RULE: entry<{ slot: string; reason: string }>(
    (p) => `the weight map of the family is wrong at "${p.slot}": ${p.reason}`,
    'this is a bug of the plugin that brings the family: report it to its author',
  ),
  // --- test kit -----------------------------------------------------------------------------------
  KVAD_E_FIXTURE: entry<{ name: string; reason: string }>(
    (p) => `fixture ${p.name} cannot be used: ${p.reason}`,
    'a fixture is a folder with config.json, reference files, and weights or weights.recipe.json',
  ),
  // --- plugins --------------------------------------------------------------------------------
  KVAD_E_PLUGIN: entry<{ plugin: string; reason: string }>(
    (p) => `plugin ${p.plugin} failed: ${p.reason}`,
    'this is a bug of the plugin: report it to its author with the output of --debug',
  ),
  KVAD_E_PLUGIN_NOT_FOUND: entry<{ plugin: string; because: string }>(
    (p) => `there is no plugin ${p.plugin} (named by ${p.because})`,
    'give the path of its folder (./my-plugin), or install the package',
  ),
  KVAD_E_PLUGIN_IN_MODEL: entry<{ directory: string; because: string }>(
    (p) => `${p.directory} is the folder of a model, whose code is never run (named by ${p.because})`,
    'move the plugin out of the folder of the model, or work in another folder',
  ),
  KVAD_E_PLUGIN_NO_MANIFEST: entry<{ directory: string; because: string }>(
    (p) => `${p.directory} is no plugin: it has no package.json with a "kvad" field (named by ${p.because})`,
    'name a package whose package.json has a "kvad" field: docs/writing-a-plugin.md',
  ),
  KVAD_E_PLUGIN_MANIFEST: entry<{ file: string; reason: string }>(
    (p) => `${p.file} describes no plugin: ${p.reason}`,
    'report it to the author of the plugin, or remove the plugin with kvad arch remove',
  ),
  KVAD_E_PLUGIN_API: entry<{ plugin: string; apiVersion: number; supported: number }>(
    (p) =>
      `plugin ${p.plugin} is written for version ${p.apiVersion} of the plugin interface; this kvad has ${p.supported}`,
    (p) => (p.apiVersion > p.supported ? 'update kvad' : 'look for a newer version of the plugin'),
  ),
  KVAD_E_PLUGIN_PEER: entry<{ plugin: string; range: string | null; version: string }>(
    (p) =>
      p.range === null
        ? `plugin ${p.plugin} does not say in peerDependencies which versions of @kvad/core it works with`
        : `plugin ${p.plugin} works with @kvad/core ${p.range}, and this is ${p.version}`,
    'look for a version of the plugin that is made for this kvad',
  ),
  KVAD_E_PLUGIN_FILE: entry<{ plugin: string; field: string; value: string; reason: string }>(
    (p) => `plugin ${p.plugin} says that its ${p.field} is ${p.value}, which ${p.reason}`,
    'build the plugin if it is yours; otherwise report it to its author',
  ),
  KVAD_E_PLUGIN_IMPORT: entry<{ plugin: string; entry: string; reason: string }>(
    (p) => `plugin ${p.plugin} cannot be imported from ${p.entry}: ${p.reason}`,
    'build the plugin if it is yours; otherwise report it to its author',
  ),
  KVAD_E_PLUGIN_TIMEOUT: entry<{ plugin: string; entry: string; seconds: number }>(
    (p) => `plugin ${p.plugin} has not been imported from ${p.entry} after ${p.seconds} s`,
    'a plugin is plain data and waits for nothing when it is imported: report it to its author',
  ),
  KVAD_E_PLUGIN_BRAND: entry<{ plugin: string; entry: string; found: string }>(
    (p) => `the default export of ${p.entry} (plugin ${p.plugin}) is ${p.found}, not a plugin`,
    'export default definePlugin({ … }) of @kvad/core/plugin',
  ),
  KVAD_E_PLUGIN_MISMATCH: entry<{ plugin: string; field: string; manifest: string; module: string }>(
    (p) => `plugin ${p.plugin} has ${p.field} ${p.module}, and its package.json says ${p.manifest}`,
    'make the "kvad" field of package.json and the exported plugin say the same',
  ),
  KVAD_E_PLUGIN_SHADOWED: entry<{ plugin: string; directory: string; by: string }>(
    (p) => `plugin ${p.plugin} of ${p.directory} is not used: ${p.by} has the same name and comes first`,
    'remove one of the two',
  ),
  KVAD_E_PLUGIN_CONFLICT: entry<{ claim: string; plugins: readonly string[]; decide: string }>(
    (p) => `${p.claim} is claimed by several plugins: ${list(p.plugins)}`,
    (p) => p.decide,
  ),
  KVAD_E_PROJECT_CONFIG: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is not valid: ${p.reason}`,
    'it may hold "plugins" (a list of paths and packages) and "prefer" (a plugin by what it decides)',
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
  KVAD_E_QUANT_RANGE: entry<{ precision: string; blocks: number }>(
    (p) => `${p.precision} cannot hold ${p.blocks} blocks of a weight matrix: their scales are beyond float16`,
    'run the weights as stored, or as bf16, which has the range of f32',
  ),
  KVAD_E_QUANT_UNSUPPORTED: entry<{ precision: string; kernels: string }>(
    (p) => `the ${p.kernels} arithmetic cannot hold weights as ${p.precision}`,
    'leave --quant out to run the weights as stored, or pass --quant bf16 or f32',
  ),
  // --- text -----------------------------------------------------------------------------------
  KVAD_E_TOKENIZER_MISSING: entry<{ directory: string; files: readonly string[] }>(
    (p) =>
      `${p.directory} has no tokenizer.json, so text cannot become token ids; ${p.files.length > 0 ? `it has ${list(p.files, 20)}` : 'the folder is empty or absent'}`,
    (p) =>
      p.files.some((file) => /^(tokenizer\.model|spiece\.model|tekken\.json|vocab\.(json|txt)|merges\.txt)$/.test(file))
        ? 'convert it once in Python: transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)'
        : "download tokenizer.json from the model's page into the folder, or give token ids instead of text",
  ),
  KVAD_E_TOKENIZER_INVALID: entry<{ file: string; reason: string }>(
    (p) => `the tokenizer of ${p.file} cannot be used: ${p.reason}`,
    "download the file again from the model's page; if it stays, report the model's name",
  ),
  KVAD_E_TEXT_FILE: entry<{ file: string; reason: string }>(
    (p) => `${p.file} cannot be read: ${p.reason}`,
    'download the file again, or mend it (a JSON file holds one object)',
  ),
  KVAD_E_TEXT_VALUE: entry<{ file: string; key: string; value: unknown; expected: string }>(
    (p) => `"${p.key}" is ${shortJson(p.value)} in ${p.file}, expected ${p.expected}`,
    (p) => `correct or remove "${p.key}" in the file`,
  ),
  KVAD_E_TEMPLATE: entry<{ file: string; reason: string }>(
    (p) => `the chat template of ${p.file} cannot be rendered: ${p.reason}`,
    'use the model without its template (--raw), or give another one with kvad render --template',
  ),
  KVAD_E_TEMPLATE_RAISED: entry<{ file: string; text: string }>(
    (p) => `the chat template refuses this conversation: ${p.text} (${p.file})`,
    'change the conversation to what the model was made for',
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
