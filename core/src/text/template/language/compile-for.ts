import { isTrue, iterate } from '../python/sequences.js';
import { Markup, Stream, type Value } from '../python/values.js';
import { compileExpression } from './compile-expression.js';
import { compileTarget } from './compile-target.js';
import { compileBody, declareTarget, type Execute } from './compile.js';
import type { Frame } from './frame.js';
import { LoopContext, type Recurse } from './loop.js';
import { blocksOf, undeclared, walkNames } from './names.js';
import type { Statement } from './nodes.js';
import { Scope } from './scope.js';
import { TemplateSyntaxError } from './syntax-error.js';

/** Runs the rounds of a loop over values. */
type Rounds = (scope: Scope, values: Value, recurse: Recurse | null, depth: number) => void;

type For = Extract<Statement, { type: 'for' }>;

export const compileFor = (node: For, outer: Frame): Execute => {
  walkNames([node], (name, use) => {
    if (name === 'loop' && use === 'store') throw new TemplateSyntaxError('nothing can be assigned to loop', node.line);
  });
  const values = compileExpression(node.of, outer);
  if (!node.recursive) {
    const rounds = compileRounds(node, outer);
    return (scope) => {
      rounds(scope, values(scope), null, 0);
      return 'next';
    };
  }
  const frame = outer.innerFunction();
  const rounds = compileRounds(node, outer, frame);
  return (scope) => {
    const { runtime } = scope;
    const textOf = (of: Value, depth: number): string => {
      const own = new Scope(scope, scope.context, runtime);
      runtime.budget.enter();
      rounds(own, of, recurse, depth);
      runtime.budget.leave();
      return own.take();
    };
    const recurse: Recurse = (of, depth) => {
      const text = textOf(of, depth);
      return outer.escapes(scope) ? new Markup(text) : text;
    };
    scope.write(textOf(values(scope), 0));
    return 'next';
  };
};

/** `loopFrame`: that of a recursive loop, which is a function. */
const compileRounds = (node: For, outer: Frame, loopFrame?: Frame): Rounds => {
  const seesLoop =
    node.recursive || undeclared(node.body, ['loop']).has('loop') || blocksOf([node]).some((block) => block.scoped);
  // The scope of a recursive loop is the outermost one of its function.
  const frame = loopFrame?.looping() ?? outer.inner(true);
  const setLoop = seesLoop ? frame.write(frame.symbols.parameter('loop')) : null;
  declareTarget(node.target, frame);
  frame.symbols.visit(node.body);
  const assign = compileTarget(node.target, frame);
  const [enter, leave] = [frame.enter(), frame.leave()];
  const body = compileBody(node.body, frame);
  const otherwise = compileElse(node, outer, loopFrame);
  const filter = node.test === null ? null : compileFilter(node, outer);

  return (scope, of, recurse, depth) => {
    const { runtime } = scope;
    setLoop?.(scope, undefined);
    const values = filter === null ? of : filter(recurse === null ? scope : scope.parent!, of);
    const loop = new LoopContext(values, runtime, recurse, depth);
    let isEmpty = true;
    for (let value = loop.next(); value !== undefined; value = loop.next()) {
      runtime.budget.step();
      isEmpty = false;
      assign(scope, value);
      setLoop?.(scope, loop);
      enter(scope);
      if (body(scope) === 'break') break;
    }
    leave(scope);
    if (isEmpty) otherwise(scope);
  };
};

const compileElse = (node: For, outer: Frame, loopFrame: Frame | undefined): ((scope: Scope) => void) => {
  const frame = loopFrame?.beside() ?? outer.inner();
  frame.symbols.visit(node.otherwise);
  const [enter, leave] = [frame.enter(), frame.leave()];
  const body = compileBody(node.otherwise, frame);
  return (scope) => {
    enter(scope);
    body(scope);
    leave(scope);
  };
};

/** The values for which the loop's condition holds, found out when each is asked for. */
const compileFilter = (node: For, outer: Frame): ((scope: Scope, values: Value) => Stream) => {
  const frame = outer.innerFunction();
  declareTarget(node.target, frame);
  frame.symbols.readAll(node.test);
  const enter = frame.enter();
  const assign = compileTarget(node.target, frame);
  const test = compileExpression(node.test!, frame);
  return (scope, values) => {
    const own = new Scope(scope, scope.context, scope.runtime);
    enter(own);
    const chosen = function* () {
      const iterator = iterate(values, scope.runtime);
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        scope.runtime.budget.step();
        assign(own, next.value);
        if (isTrue(test(own), scope.runtime)) yield next.value;
      }
    };
    return new Stream(chosen());
  };
};
