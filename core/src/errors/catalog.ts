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
} as const;

export type ErrorCode = keyof typeof CATALOG;
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof CATALOG)[C]['message']>[0];
export { list };
