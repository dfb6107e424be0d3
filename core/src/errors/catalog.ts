import { ARCHITECTURE_ERRORS } from './catalog/architecture.js';
import { CHECKPOINT_ERRORS } from './catalog/checkpoint.js';
import { COMMAND_LINE_ERRORS } from './catalog/command-line.js';
import { HUB_ERRORS } from './catalog/hub.js';
import { PLUGIN_ERRORS } from './catalog/plugins.js';
import { RUNNING_ERRORS } from './catalog/running.js';
import { SCORING_ERRORS } from './catalog/scoring.js';
import { TEXT_ERRORS } from './catalog/text.js';

/**
 * The one catalogue of errors, by topic in `catalog/`. `docs/errors.md` holds a section for each; a test keeps both
 * equal and checks that each code is raised somewhere.
 */
export const CATALOG = {
  ...ARCHITECTURE_ERRORS,
  ...CHECKPOINT_ERRORS,
  ...HUB_ERRORS,
  ...PLUGIN_ERRORS,
  ...RUNNING_ERRORS,
  ...SCORING_ERRORS,
  ...TEXT_ERRORS,
  ...COMMAND_LINE_ERRORS,
} as const;

export type ErrorCode = keyof typeof CATALOG;
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof CATALOG)[C]['message']>[0];
