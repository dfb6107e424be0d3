import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where `kvad use` keeps its choice: `$XDG_CONFIG_HOME/kvad/state.json`. */
export const stateFile = (env: Environment): string => {
  const { XDG_CONFIG_HOME: home } = env;
  const base = home !== undefined && path.isAbsolute(home) ? home : path.join(homedir(), '.config');
  return path.join(base, 'kvad', 'state.json');
};

/** The model that `kvad use` chose: a Hub id or the path of a folder; null: none, or a file that says none. */
export const readDefaultModel = (env: Environment): string | null => {
  try {
    const { model } = JSON.parse(readFileSync(stateFile(env), 'utf8')) as { model?: unknown };
    return typeof model === 'string' && model !== '' ? model : null;
  } catch {
    return null; // nobody chose one; a damaged choice is made anew by the next `kvad use`
  }
};

/** null: back to the bundled model. */
export const writeDefaultModel = (env: Environment, model: string | null): void => {
  const file = stateFile(env);
  if (model === null) return rmSync(file, { force: true });
  mkdirSync(path.dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, `${JSON.stringify({ model }, null, 2)}\n`);
  renameSync(temporary, file);
};
