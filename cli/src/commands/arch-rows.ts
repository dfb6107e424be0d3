import { ALWAYS, LENIENT, PLUGIN } from './flags.js';
import type { Command } from './table.js';

/** The rows of the commands that bring plugins in, in the table of commands. */
export const ARCH_ADD = {
  about: 'install a plugin for all your work',
  details:
    'npm installs it into `$XDG_DATA_HOME/kvad/plugins`, without running any script of it. Its package.json is checked before its code runs: the manifest, the version of the plugin interface, the range of @kvad/core, and that nobody else claims its model types and kinds. A plugin that is refused leaves the folder as it was. One of the same name is replaced.',
  arguments: [
    {
      name: 'plugin',
      type: 'folder',
      required: true,
      about: 'a package, with or without @version; a folder; a .tgz file',
    },
  ],
  flags: [...ALWAYS],
  examples: ['kvad arch add kvad-arch-foo', 'kvad arch add ./kvad-arch-foo-1.0.0.tgz'],
} as const satisfies Command;

export const ARCH_REMOVE = {
  about: 'remove a plugin that kvad arch add has installed',
  arguments: [{ name: 'name', type: 'text', required: true, about: 'the name of its package' }],
  flags: [...ALWAYS],
  examples: ['kvad arch remove kvad-arch-foo'],
} as const satisfies Command;

export const ARCH_LIST = {
  about: 'list the plugins, and where each was found; none of them is run',
  arguments: [],
  flags: [PLUGIN, ...ALWAYS],
  examples: ['kvad arch list'],
} as const satisfies Command;

export const ARCH_CHECK = {
  about: 'would this build run a model? From its config and headers alone',
  details:
    'Family, plan, parameters, memory at each precision, cost of context, config keys that nobody knows, tensors that are missing, left over or of another shape, and the verdict. Of a model of the Hub that is not in the cache only config.json, the index and the headers of its safetensors files are loaded. Exit code 0: it runs; 1: it does not.',
  arguments: [
    {
      name: 'model',
      type: 'model',
      required: true,
      about: 'folder of a checkpoint, or owner/name[@revision] of the Hub',
    },
  ],
  flags: [PLUGIN, LENIENT, ...ALWAYS],
  examples: ['kvad arch check ./my-model', 'kvad arch check owner/name --json'],
} as const satisfies Command;

export const ARCH_NEW = {
  about: 'begin a plugin: a package that builds and passes the conformance kit as it is',
  details:
    'Its fixture is a small config with random weights; docs/writing-a-plugin.md says how it becomes a family that is proved. `--like` begins with the source of a family that is there, in place of a plain decoder.',
  arguments: [{ name: 'name', type: 'text', required: true, about: 'foo, kvad-arch-foo or @me/kvad-arch-foo' }],
  flags: [
    { type: 'text', name: 'like', value: 'TYPE', about: 'the model_type of a family to begin with' },
    {
      type: 'text',
      name: 'dir',
      value: 'DIR',
      absent: './kvad-arch-NAME',
      about: 'an empty folder, or one to be made',
    },
    { type: 'text', name: 'with', value: 'PARTS', about: 'parts of its own: mixer, ffn, or mixer,ffn' },
    PLUGIN,
    ...ALWAYS,
  ],
  examples: ['kvad arch new foo', 'kvad arch new foo --with mixer,ffn', 'kvad arch new foo --like TYPE --dir ./foo'],
} as const satisfies Command;
