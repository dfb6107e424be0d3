import { ALWAYS } from './flags.js';
import type { Command } from './table.js';

/** The rows of `kvad cache` and `kvad cache clear` in the table of commands. */
export const CACHE = {
  about: 'list the quantised weights that are kept from earlier loads',
  details:
    'A model that is loaded with `--quant q8` or `q4` is quantised once and kept in `$XDG_CACHE_HOME/kvad/quant` (default `~/.cache/kvad/quant`), in the layout that the kernels read; later loads map the file. `stale`: the next load makes it anew, and the reason says why; `writing`: another process makes it now; `leftover`: the process that made it ended too early. `KVAD_NO_QUANT_CACHE=1` keeps none.',
  arguments: [],
  flags: [...ALWAYS],
  examples: ['kvad cache', 'kvad cache --json'],
} as const satisfies Command;

export const CACHE_CLEAR = {
  about: 'delete quantised weights; the next load makes them anew',
  details: 'Without NAME all of them, those excepted that another process makes now.',
  arguments: [
    {
      name: 'name',
      type: 'text',
      required: false,
      about: 'only those of this model, or this file: a MODEL or FILE of the list, or the folder of a model',
    },
  ],
  flags: [...ALWAYS],
  examples: ['kvad cache clear', 'kvad cache clear owner/name@revision'],
} as const satisfies Command;
