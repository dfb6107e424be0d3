import { Namespace } from '../builtins/globals.js';
import { PythonError, typeError } from '../python/error.js';
import { unpack } from '../python/operators.js';
import type { Value } from '../python/values.js';
import type { Frame } from './frame.js';
import { fieldOwners, targetNames } from './names.js';
import type { Target } from './nodes.js';
import type { Scope } from './scope.js';

export type Assign = (scope: Scope, value: Value) => void;

/** Gives a value to a name, a field of a namespace, or several of them. */
export const compileTarget = (target: Target, frame: Frame): Assign => {
  switch (target.type) {
    case 'name':
      return frame.write(frame.variable(target.name, target.line));
    case 'field': {
      const owner = frame.reader(target.name, target.line);
      const { field } = target;
      return (scope, value) => {
        // A namespace when the assignment began; a name before this one in the same tuple may have taken its place.
        const namespace = owner(scope);
        if (!(namespace instanceof Namespace)) throw typeError('the object does not support item assignment');
        namespace.assign(field, value);
      };
    }
    case 'tuple': {
      const items = target.items.map((item) => compileTarget(item, frame));
      return (scope, value) => {
        const values = unpack(value, items.length, scope.runtime);
        items.forEach((assign, index) => assign(scope, values[index]!));
      };
    }
  }
};

/** As `{% set %}` does it: owners of fields are looked at first, and what is assigned at the top is seen by blocks. */
export const compileAssignment = (target: Target, frame: Frame): ((scope: Scope, value: () => Value) => void) => {
  const assign = compileTarget(target, frame);
  const owners = fieldOwners(target).map((name) => frame.reader(name, target.line));
  const seen = frame.isTop ? targetNames(target).map((name) => [name, frame.reader(name, target.line)] as const) : [];
  return (scope, value) => {
    for (const owner of owners) {
      if (!(owner(scope) instanceof Namespace)) {
        throw new PythonError('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
      }
    }
    assign(scope, value());
    for (const [name, read] of seen) scope.context.assign(name, read(scope)!);
  };
};
