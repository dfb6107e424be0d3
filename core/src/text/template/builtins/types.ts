import type { Arguments, Runtime, Value } from '../python/values.js';

export type Filter = (value: Value, args: Arguments, runtime: Runtime) => Value;

export type Test = (value: Value, args: Arguments, runtime: Runtime) => boolean;
