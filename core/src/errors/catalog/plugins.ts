import { entry, list } from './entry.js';

/** Finding, validating and importing plugins. */
export const PLUGIN_ERRORS = {
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
    'name a package whose package.json has a "kvad" field',
  ),
  KVAD_E_PLUGIN_JSON: entry<{ file: string; reason: string }>(
    (p) => `${p.file} cannot be read as JSON: ${p.reason}`,
    'mend the package.json if the plugin is yours; otherwise remove the package and install it anew',
  ),
  KVAD_E_PLUGIN_MANIFEST: entry<{ file: string; reason: string }>(
    (p) => `${p.file} describes no plugin: ${p.reason}`,
    'mend the package.json if the plugin is yours; otherwise report it to its author',
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
  KVAD_E_PLUGIN_SPEC: entry<{ spec: string; reason: string }>(
    (p) => `${p.spec} cannot be added as a plugin: ${p.reason}`,
    'give a package (kvad-arch-foo, @scope/name, with @version), the path of its folder, or of a tarball (.tgz)',
  ),
  KVAD_E_PLUGIN_INSTALL: entry<{ spec: string; reason: string; absent: boolean }>(
    (p) => `npm could not install ${p.spec}: ${p.reason}`,
    (p) =>
      p.absent
        ? 'install npm, which comes with Node.js, or name the folder of the plugin with --plugin'
        : 'look whether npm itself can install it: npm install, with the same words, in an empty folder',
  ),
  KVAD_E_PLUGIN_NOT_ADDED: entry<{ plugin: string; folder: string; known: readonly string[] }>(
    (p) =>
      `${p.plugin} is no plugin of ${p.folder}; ${p.known.length === 0 ? 'there are none' : `there are: ${list(p.known)}`}`,
    'kvad arch remove takes the name of a package that kvad arch add has installed; kvad arch list shows all plugins',
  ),
  KVAD_E_SCAFFOLD: entry<{ name: string; reason: string }>(
    (p) => `${p.name} cannot be begun: ${p.reason}`,
    'give another name, another folder (--dir), or another family to begin with (--like; kvad arch lists them)',
  ),
  KVAD_E_PROJECT_CONFIG: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is not valid: ${p.reason}`,
    'it may hold "plugins" (a list of paths and packages) and "prefer" (a plugin by what it decides)',
  ),
} as const;
