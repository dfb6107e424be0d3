import { typeError } from './error.js';
import type { Arguments, Value } from './values.js';

/** What a call gives for each parameter; undefined: nothing. */
export type Bound = readonly (Value | undefined)[];

/**
 * Arguments by parameter, as Python hands them over. `needed`: how many of the first ones must be there.
 * `names`: parameters that can be named; the first ones that cannot have an empty name.
 */
export const bind = (callee: string, args: Arguments, names: readonly string[], needed: number): Bound => {
  const { positional, named } = args;
  if (positional.length > names.length) {
    throw typeError(`${callee}() takes at most ${names.length} arguments (${positional.length} given)`);
  }
  const bound = names.map((_, index) => positional[index]);
  for (const [name, value] of named) {
    const index = name === '' ? -1 : names.indexOf(name);
    if (index < 0) throw typeError(`${callee}() got an unexpected keyword argument '${name}'`);
    if (bound[index] !== undefined) throw typeError(`${callee}() got multiple values for argument '${name}'`);
    bound[index] = value;
  }
  const absent = bound.findIndex((value, index) => value === undefined && index < needed);
  if (absent >= 0) {
    throw typeError(`${callee}() missing a required argument${names[absent] ? `: '${names[absent]}'` : ''}`);
  }
  return bound;
};
