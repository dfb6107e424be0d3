import { bind, type Bound } from '../python/arguments.js';
import type { Runtime, Value } from '../python/values.js';
import type { Filter } from './types.js';

/** A filter with named parameters; the first `needed` must be given. */
export const define = (
  name: string,
  params: readonly string[],
  needed: number,
  run: (value: Value, bound: Bound, runtime: Runtime) => Value,
): Filter => {
  return (value, args, runtime) => run(value, bind(name, args, params, needed), runtime);
};

/** A value that was given, None too; else what stands for it. */
export const or = (value: Value | undefined, absent: Value): Value => (value === undefined ? absent : value);
