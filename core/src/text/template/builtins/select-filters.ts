import { PythonError } from '../python/error.js';
import { isTrue, valuesOf } from '../python/sequences.js';
import { Stream, type Value, type Runtime, type Arguments } from '../python/values.js';
import { attributeGetter, type Getter } from './attribute-getter.js';
import { or } from './define.js';
import type { Filter } from './types.js';

/** Nothing is looked at before the first value is asked for. */
const lazily =
  (values: (value: Value, args: Arguments, runtime: Runtime) => Iterator<Value>): Filter =>
  (value, args, runtime) =>
    new Stream(values(value, args, runtime));

const mapped = (args: Arguments, runtime: Runtime): Getter => {
  const { positional, named } = args;
  if (positional.length === 0 && named.has('attribute')) {
    const { attribute, default: fallback, ...more } = Object.fromEntries(named);
    const [first] = Object.keys(more);
    if (first !== undefined) throw new PythonError('FilterArgumentError', `Unexpected keyword argument '${first}'`);
    return attributeGetter(or(attribute, null), runtime, or(fallback, null));
  }
  const [name, ...rest] = positional;
  if (name === undefined) throw new PythonError('FilterArgumentError', 'map requires a filter argument');
  return (item) => runtime.filter(name, item, { positional: rest, named });
};

const map = function* (value: Value, args: Arguments, runtime: Runtime): Iterator<Value> {
  if (!isTrue(value, runtime)) return;
  const change = mapped(args, runtime);
  for (const item of valuesOf(value, runtime)) {
    runtime.budget.step();
    yield change(item);
  }
};

/** Whether an item, or its attribute, passes the test that is named; without one, whether it is true. */
const condition = (
  { positional, named }: Arguments,
  ofAttribute: boolean,
  runtime: Runtime,
): ((item: Value) => boolean) => {
  const [attribute] = positional;
  if (ofAttribute && attribute === undefined) {
    throw new PythonError('FilterArgumentError', 'Missing parameter for attribute name');
  }
  const read = ofAttribute ? attributeGetter(attribute!, runtime) : (item: Value): Value => item;
  const [name, ...rest] = ofAttribute ? positional.slice(1) : positional;
  if (name === undefined) return (item) => isTrue(read(item), runtime);
  return (item) => runtime.test(name, read(item), { positional: rest, named });
};

const choose = (wanted: boolean, ofAttribute: boolean): Filter =>
  lazily(function* (value, args, runtime) {
    if (!isTrue(value, runtime)) return;
    const holds = condition(args, ofAttribute, runtime);
    for (const item of valuesOf(value, runtime)) {
      runtime.budget.step();
      if (holds(item) === wanted) yield item;
    }
  });

export const SELECT_FILTERS: Readonly<Record<string, Filter>> = {
  map: lazily(map),
  select: choose(true, false),
  reject: choose(false, false),
  selectattr: choose(true, true),
  rejectattr: choose(false, true),
};
