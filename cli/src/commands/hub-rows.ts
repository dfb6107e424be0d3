import { ALWAYS, PLUGIN } from './flags.js';
import type { Command } from './table.js';

/** The rows of the commands around the Hub and this machine in the table of commands. */

const HUB_MODEL = {
  name: 'model',
  type: 'text',
  required: true,
  about: 'owner/name of the Hub; @revision is a branch, a tag or a commit',
} as const;

export const SEARCH = {
  about: 'models of the Hub by their name, and whether this machine runs them',
  details:
    'The most downloaded first. RUNS is the best precision that fits into the memory of this machine, or why the model does not run here. SIZE is that of the weights as they are stored.',
  arguments: [{ name: 'query', type: 'text', required: true, about: 'part of a name' }],
  flags: [
    {
      type: 'integer',
      name: 'limit',
      value: 'N',
      min: 1,
      max: 100,
      absent: '20',
      about: 'models to show at most',
    },
    PLUGIN,
    ...ALWAYS,
  ],
  examples: ['kvad search smol', 'kvad search instruct --limit 50 --json'],
} as const satisfies Command;

export const PULL = {
  about: 'download a model of the Hub into the cache that Python shares',
  details:
    'Only the files that a run needs: config, tokenizer, templates and safetensors. What is there is not fetched again, a stopped download is gone on with, and a file gets its place only when its checksum is right. Of a branch the newest commit is fetched; offline, or for a commit that is whole, the cache answers.',
  arguments: [HUB_MODEL],
  flags: [
    { type: 'switch', name: 'verify', about: 'read all files that are there and fetch damaged ones anew' },
    ...ALWAYS,
  ],
  examples: ['kvad pull owner/name', 'kvad pull owner/name@v1.0 --json'],
} as const satisfies Command;

export const LS = {
  about: 'list the models of the cache',
  details:
    'One line a snapshot. STATE says what is missing; RUNS is the best precision that fits into the memory of this machine, or why the model does not run here; * marks the default model.',
  arguments: [],
  flags: [PLUGIN, ...ALWAYS],
  examples: ['kvad ls', 'kvad ls --json'],
} as const satisfies Command;

export const USE = {
  about: 'choose the model that commands take where none is named',
  details: 'Without MODEL it shows the choice. The choice is kept in `$XDG_CONFIG_HOME/kvad/state.json`.',
  arguments: [
    {
      name: 'model',
      type: 'model',
      required: false,
      about: 'folder of a checkpoint, or owner/name[@revision] that is in the cache',
    },
  ],
  flags: [{ type: 'switch', name: 'bundled', about: 'go back to the model that ships with kvad' }, ...ALWAYS],
  examples: ['kvad use owner/name', 'kvad use', 'kvad use --bundled'],
} as const satisfies Command;

export const RM = {
  about: 'delete a model from the cache',
  details:
    'With @revision only that snapshot, and the files that no other one shares. Quantised weights that were made from it go too.',
  arguments: [HUB_MODEL],
  flags: [
    { type: 'switch', name: 'yes', short: 'y', about: 'do not ask; needed where stdin is no terminal' },
    ...ALWAYS,
  ],
  examples: ['kvad rm owner/name', 'kvad rm owner/name@v1.0 --yes'],
} as const satisfies Command;

export const DOCTOR = {
  about: 'what kvad finds on this machine: kernels, memory, caches, plugins, the Hub',
  details: 'Exit code 1 if something is broken; what is only slow or absent is a warning.',
  arguments: [],
  flags: [PLUGIN, ...ALWAYS],
  examples: ['kvad doctor', 'kvad doctor --json'],
} as const satisfies Command;
