import { entry, list } from './entry.js';

/** What the command line was given. */
export const COMMAND_LINE_ERRORS = {
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
  KVAD_E_CHAT_FILE_EXISTS: entry<{ file: string }>(
    (p) => `${p.file} is there already, and this chat has neither saved nor loaded it`,
    'save under another name, or delete the file first',
  ),
  KVAD_E_INPUT_JSON: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is not JSON: ${p.reason}`,
    'write the file as JSON: no comments, no commas before a closing bracket',
  ),
  KVAD_E_INPUT_SHAPE: entry<{ file: string; found: string; expected: string }>(
    (p) => `${p.file} holds ${p.found}, expected ${p.expected}`,
    'docs/cli.md shows the form of each file that a command reads',
  ),
  KVAD_E_CACHE_ABSENT: entry<{ name: string; folder: string; models: readonly string[] }>(
    (p) =>
      `no quantised weights of ${p.name} are kept in ${p.folder}${p.models.length === 0 ? '' : `; there are: ${list(p.models)}`}`,
    'kvad cache lists what is kept',
  ),
  KVAD_E_PLAN_FILE: entry<{ file: string; path: string; reason: string }>(
    (p) => `${p.file} is no plan: ${p.path === '' ? 'it' : p.path} ${p.reason}`,
    'make one with kvad arch plan MODEL --json',
  ),
  KVAD_E_INTERNAL: entry<{ reason: string }>(
    (p) => `kvad itself failed: ${p.reason}`,
    'this is a bug of kvad: run it again with --debug and report the whole output with the command and kvad --version',
  ),
} as const;
