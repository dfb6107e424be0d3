import { BUILTINS, Rendering } from './builtins/environment.js';
import { GLOBALS } from './builtins/globals.js';
import { compileTemplate, type Program } from './language/compile.js';
import { Budget, LimitExceeded, type LimitValues } from './limits.js';
import { PythonError } from './python/error.js';
import { fromJson } from './python/from-json.js';

export { TemplateRaised } from './builtins/globals.js';
export { TemplateSyntaxError } from './language/syntax-error.js';
export { PythonError } from './python/error.js';
export { LimitExceeded } from './limits.js';

/** A template, ready to be rendered any number of times. */
export interface Template {
  /**
   * The text for these variables, which are JSON; those that are undefined stay undefined. `now`: what `strftime_now`
   * says. Throws TemplateRaised, PythonError and LimitExceeded.
   */
  render(variables: Readonly<Record<string, unknown>>, now: Date, limits?: LimitValues): string;
}

/** Throws TemplateSyntaxError and LimitExceeded. */
export const compile = (source: string): Template => {
  const program = withinStack(() => compileTemplate(source, BUILTINS));
  return {
    render: (variables, now, limits) => withinStack(() => run(program, variables, now, limits)),
  };
};

const run = (
  program: Program,
  variables: Readonly<Record<string, unknown>>,
  now: Date,
  limits: LimitValues | undefined,
): string => {
  const budget = new Budget(limits);
  const given = new Map(GLOBALS);
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined) given.set(name, fromJson(value, budget));
  }
  const rendering = new Rendering(budget, now);
  try {
    return program(given, rendering);
  } catch (error) {
    if (error instanceof PythonError) error.line ??= rendering.line;
    throw error;
  }
};

/** What is nested so deeply that the engine's stack ends is refused like all else that is too much. */
const withinStack = <T>(task: () => T): T => {
  try {
    return task();
  } catch (error) {
    if (error instanceof RangeError) throw new LimitExceeded('more room than the stack has');
    throw error;
  }
};
