import type { Builtins } from '../language/frame.js';
import type { Budget } from '../limits.js';
import { bind } from '../python/arguments.js';
import { Dict } from '../python/dict.js';
import { PythonError } from '../python/error.js';
import { repr } from '../python/text-form.js';
import { Undefined, isText, textOf, type Arguments, type Value } from '../python/values.js';
import { HTML_FILTERS } from './html-filters.js';
import { LIST_FILTERS } from './list-filters.js';
import { NUMBER_FILTERS } from './number-filters.js';
import { pprint } from './pprint.js';
import { SELECT_FILTERS } from './select-filters.js';
import { TESTS } from './tests.js';
import { TEXT_FILTERS } from './text-filters.js';
import type { Filter, Test } from './types.js';

const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries({ ...TEXT_FILTERS, ...LIST_FILTERS, ...SELECT_FILTERS, ...NUMBER_FILTERS, ...HTML_FILTERS, pprint }),
);

/** Whether a name is one of those; TypeError: what can be no key. */
const isNameOf =
  (what: string, names: ReadonlyMap<string, unknown>): Test =>
  (value, args) => {
    bind(what, args, [], 0);
    new Dict([[value, null]]);
    return isText(value) && names.has(textOf(value));
  };

const ALL_TESTS: ReadonlyMap<string, Test> = new Map([
  ...Object.entries(TESTS),
  ['filter', isNameOf('filter', FILTERS)],
  ['test', (value, args, runtime) => isNameOf('test', ALL_TESTS)(value, args, runtime)],
]);

/** The filters and tests of Python's jinja2, with `tojson` as chat templates have it. */
export const BUILTINS: Builtins = {
  filter: (name) => FILTERS.get(name),
  test: (name) => ALL_TESTS.get(name),
};

/** What one rendering has. */
export class Rendering {
  readonly budget: Budget;
  readonly now: Date;
  autoescape = false;
  line = 1;

  constructor(budget: Budget, now: Date) {
    this.budget = budget;
    this.now = now;
  }

  filter(name: Value, value: Value, args: Arguments): Value {
    this.budget.step();
    const filter = isText(name) ? FILTERS.get(textOf(name)) : undefined;
    if (filter === undefined) throw this.#unknown('filter', name);
    return filter(value, args, this);
  }

  test(name: Value, value: Value, args: Arguments): boolean {
    this.budget.step();
    const test = isText(name) ? ALL_TESTS.get(textOf(name)) : undefined;
    if (test === undefined) throw this.#unknown('test', name);
    return test(value, args, this);
  }

  #unknown(what: string, name: Value): PythonError {
    const why = name instanceof Undefined ? ` (${name.message()}; did you forget to quote the callable name?)` : '';
    return new PythonError('TemplateRuntimeError', `No ${what} named ${repr(name, this)}.${why}`);
  }
}
