import { entry, list } from './entry.js';

/** Which family a config is of, what its keys say, and the plan that it becomes. */
export const ARCHITECTURE_ERRORS = {
  // --- architecture ------------------------------------------------------------------------------
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
        ? `the nearest known type is ${list(p.nearest)}; a plugin for another one comes with kvad arch add (npm search keywords:kvad-plugin)`
        : 'install a plugin that knows it with kvad arch add (npm search keywords:kvad-plugin), or name its folder with --plugin',
  ),
  KVAD_E_ARCH_MISSING: entry<{ file: string; found: string }>(
    (p) => `${p.file} names no architecture: "model_type" is ${p.found}`,
    'give the config.json of a language model; its "model_type" is the name of its architecture',
  ),
  // --- config ------------------------------------------------------------------------------------
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
    'use the checkpoint that it was made from, in F32, F16 or BF16',
  ),
  KVAD_E_PLAN_INVALID: entry<{ family: string; path: string; reason: string; file: string }>(
    (p) => `${p.family} makes no valid plan of ${p.file}: ${p.path === '' ? 'it' : p.path} ${p.reason}`,
    'report it to the author of the plugin, with the config',
  ),
  // --- parts and plans ---------------------------------------------------------------------------
  KVAD_E_PART_UNKNOWN: entry<{ axis: string; kind: string; provider: string | null; known: readonly string[] }>(
    (p) => `no plugin brings the ${p.axis} "${p.kind}"; known: ${p.known.length > 0 ? list(p.known, 60) : 'none'}`,
    (p) =>
      `name ${p.provider ?? 'the plugin'}${p.provider === null ? ' that' : ', which'} brings it, with --plugin or in kvad.config.json`,
  ),
  KVAD_E_PART_TWICE: entry<{ axis: string; kind: string }>(
    (p) => `two plugins bring the ${p.axis} "${p.kind}"`,
    'remove one of them (kvad arch lists plugins and what they bring)',
  ),
  KVAD_E_PLAN_OPTIONS: entry<{ axis: string; kind: string; path: string; reason: string }>(
    (p) => `the ${p.axis} "${p.kind}" refuses its options: ${p.path} ${p.reason}`,
    'compare the options with the plan: kvad arch plan',
  ),
  KVAD_E_PLAN_SLOT: entry<{ slot: string }>(
    (p) => `two weights of the plan have the name ${p.slot}`,
    'this is a bug of the family or part that made the plan: report it with the output of kvad arch plan',
  ),
  KVAD_E_PLAN_SCHEDULE: entry<{ visit: number; reason: string }>(
    (p) => `visit ${p.visit} of the plan's schedule ${p.reason}`,
    'this is a bug of the family that made the plan: report it with the output of kvad arch plan',
  ),
} as const;
