import { getAttribute, getItem } from '../python/attributes.js';
import { Dict } from '../python/dict.js';
import { PythonError, typeError } from '../python/error.js';
import { binary, compare, concatenate, unary } from '../python/operators.js';
import { isTrue, sliceOf, valuesOf } from '../python/sequences.js';
import {
  Markup,
  PythonObject,
  Tuple,
  Undefined,
  isText,
  textOf,
  typeName,
  undefinedName,
  NO_ARGUMENTS,
  type Arguments,
  type Runtime,
  type Value,
} from '../python/values.js';
import type { Frame } from './frame.js';
import type { CallArguments, Expression } from './nodes.js';
import type { Scope } from './scope.js';
import { TemplateSyntaxError } from './syntax-error.js';

export type Evaluate = (scope: Scope) => Value;

/** A function that gives an expression's value. `frame` says where its names live. */
export const compileExpression = (node: Expression, frame: Frame): Evaluate => {
  switch (node.type) {
    case 'const': {
      const { value } = node;
      return () => value;
    }
    case 'name': {
      const { name } = node;
      const read = frame.reader(name, node.line);
      return (scope) => {
        const value = read(scope);
        return value === undefined ? undefinedName(name) : value;
      };
    }
    case 'list':
    case 'tuple': {
      const items = compileAll(node.items, frame);
      if (node.type === 'list') return (scope) => items.map((item) => item(scope));
      return (scope) => new Tuple(items.map((item) => item(scope)));
    }
    case 'dict': {
      const entries = node.entries.map(([key, value]) => compileAll([key, value], frame));
      return (scope) => new Dict(entries.map(([key, value]) => [key!(scope), value!(scope)] as const));
    }
    case 'concat': {
      const parts = compileAll(node.parts, frame);
      return (scope) =>
        concatenate(
          parts.map((part) => part(scope)),
          frame.escapes(scope),
          scope.runtime,
        );
    }
    case 'condition':
      return compileCondition(node, frame);
    case 'compare':
      return compileComparison(node, frame);
    case 'call':
      return compileCall(node, frame);
    case 'filter':
      return compileFilter(node, frame);
    case 'test':
      return compileTest(node, frame);
    case 'slice':
      return compileSlice(node, frame);
    default:
      return compileOperator(node, frame);
  }
};

const compileAll = (nodes: readonly Expression[], frame: Frame): Evaluate[] =>
  nodes.map((node) => compileExpression(node, frame));

const compileOperator = (
  node: Of<'and' | 'or' | 'not' | 'sign' | 'arithmetic' | 'attribute' | 'item'>,
  frame: Frame,
): Evaluate => {
  if (node.type === 'and' || node.type === 'or') {
    const [left, right] = compileAll([node.left, node.right], frame);
    const goesOn = node.type === 'and';
    return (scope) => {
      const value = left!(scope);
      return isTrue(value, scope.runtime) === goesOn ? right!(scope) : value;
    };
  }
  if (node.type === 'arithmetic') {
    const { op } = node;
    const [left, right] = compileAll([node.left, node.right], frame);
    return (scope) => binary(op, left!(scope), right!(scope), scope.runtime);
  }
  const of = compileExpression(node.of, frame);
  switch (node.type) {
    case 'not':
      return (scope) => !isTrue(of(scope), scope.runtime);
    case 'sign': {
      const { op } = node;
      return (scope) => unary(op, of(scope));
    }
    case 'attribute': {
      const { name } = node;
      return (scope) => getAttribute(of(scope), name, scope.runtime);
    }
    case 'item': {
      const key = compileExpression(node.key, frame);
      return (scope) => getItem(of(scope), key(scope), scope.runtime);
    }
  }
};

const compileCondition = (node: Of<'condition'>, frame: Frame): Evaluate => {
  const soft = frame.soft();
  const [test, then] = compileAll([node.test, node.then], soft);
  const absent = new Undefined(
    () => `the inline if-expression on line ${node.line} evaluated to false and no else section was defined.`,
  );
  const otherwise = node.otherwise === null ? () => absent : compileExpression(node.otherwise, soft);
  return (scope) => (isTrue(test!(scope), scope.runtime) ? then!(scope) : otherwise(scope));
};

const compileComparison = (node: Of<'compare'>, frame: Frame): Evaluate => {
  const first = compileExpression(node.first, frame);
  const rest = node.rest.map(([op, value]) => ({ op, value: compileExpression(value, frame) }));
  return (scope) => {
    let left = first(scope);
    for (const { op, value } of rest) {
      const right = value(scope);
      if (!compare(op, left, right, scope.runtime)) return false;
      left = right;
    }
    return true;
  };
};

const compileSlice = (node: Of<'slice'>, frame: Frame): Evaluate => {
  const of = compileExpression(node.of, frame);
  const [start, stop, step] = [node.start, node.stop, node.step].map((bound) =>
    bound === null ? () => null : compileExpression(bound, frame),
  );
  return (scope) => sliceOf(of(scope), start!(scope), stop!(scope), step!(scope), scope.runtime);
};

const compileArguments = (node: CallArguments, frame: Frame): ((scope: Scope) => Arguments) => {
  const args = compileAll(node.args, frame);
  const named = node.named.map(({ name, value }) => [name, compileExpression(value, frame)] as const);
  const more = node.moreArgs === null ? null : compileExpression(node.moreArgs, frame);
  const moreNamed = node.moreNamed === null ? null : compileExpression(node.moreNamed, frame);
  if (args.length === 0 && named.length === 0 && more === null && moreNamed === null) return () => NO_ARGUMENTS;
  return (scope) => {
    const positional = args.map((arg) => arg(scope));
    if (more !== null) {
      for (const value of valuesOf(more(scope), scope.runtime)) scope.runtime.budget.grows(positional.push(value));
    }
    const byName = new Map(named.map(([name, value]) => [name, value(scope)]));
    if (moreNamed !== null) addNamed(byName, moreNamed(scope));
    return { positional, named: byName };
  };
};

const addNamed = (named: Map<string, Value>, more: Value): void => {
  if (!(more instanceof Dict)) throw typeError(`argument after ** must be a mapping, not ${typeName(more)}`);
  for (const [key, value] of more.entries()) {
    if (!isText(key)) throw typeError('keywords must be strings');
    if (named.has(textOf(key))) throw typeError(`got multiple values for keyword argument '${textOf(key)}'`);
    named.set(textOf(key), value);
  }
};

type Of<T extends Expression['type']> = Extract<Expression, { type: T }>;

/** `callee(…)` with the arguments of a call; `caller` is what a `{% call %}` block adds. */
export const compileCall = (
  node: Of<'call'>,
  frame: Frame,
  caller: ((scope: Scope) => Value) | null = null,
): Evaluate => {
  const of = compileExpression(node.of, frame);
  const args = compileArguments(node, frame);
  return (scope) => {
    const callee = of(scope);
    let given = args(scope);
    if (caller !== null) {
      if (given.named.has('caller')) throw typeError("got multiple values for keyword argument 'caller'");
      given = { positional: given.positional, named: new Map([...given.named, ['caller', caller(scope)]]) };
    }
    return call(callee, given, scope.runtime);
  };
};

export const call = (callee: Value, args: Arguments, runtime: Runtime): Value => {
  runtime.budget.step();
  const run = callee instanceof PythonObject ? callee.call : undefined;
  if (run === undefined) throw typeError(`'${typeName(callee)}' object is not callable`);
  return run.call(callee, args, runtime);
};

const compileFilter = (node: Of<'filter'>, frame: Frame): Evaluate => {
  // Without a value of its own, a filter is given the text of its block.
  const block: Evaluate = (scope: Scope) => (frame.escapes(scope) ? new Markup(scope.filtered) : scope.filtered);
  const of = node.of === null ? block : compileExpression(node.of, frame);
  const args = compileArguments(node, frame);
  const filter = frame.filters(node.name);
  const { name } = node;
  if (filter === undefined) {
    if (!frame.isSoft) throw new TemplateSyntaxError(`there is no filter named "${name}"`, node.line);
    return () => {
      throw new PythonError('TemplateRuntimeError', `No filter named '${name}' found.`);
    };
  }
  return (scope) => {
    scope.runtime.budget.step();
    return filter(of(scope), args(scope), scope.runtime);
  };
};

const compileTest = (node: Of<'test'>, frame: Frame): Evaluate => {
  const of = compileExpression(node.of, frame);
  const args = compileArguments(node, frame);
  const test = frame.tests(node.name);
  const { name } = node;
  if (test === undefined) {
    if (!frame.isSoft) throw new TemplateSyntaxError(`there is no test named "${name}"`, node.line);
    return () => {
      throw new PythonError('TemplateRuntimeError', `No test named '${name}' found.`);
    };
  }
  return (scope) => {
    scope.runtime.budget.step();
    return test(of(scope), args(scope), scope.runtime);
  };
};
