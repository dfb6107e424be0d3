import { PythonError } from '../python/error.js';
import { isTrue } from '../python/sequences.js';
import { escapeHtml, str } from '../python/text-form.js';
import { Markup, type Runtime, type Value } from '../python/values.js';
import { BlockReference, TemplateReference } from './block-reference.js';
import { compileCall, compileExpression } from './compile-expression.js';
import { compileFor } from './compile-for.js';
import { compileMacro } from './compile-macro.js';
import { compileAssignment, compileTarget } from './compile-target.js';
import { Frame, type Builtins } from './frame.js';
import { blocksOf, undeclared } from './names.js';
import type { Statement } from './nodes.js';
import { parse } from './parse.js';
import { Context, Scope, type BlockFunction } from './scope.js';
import { TemplateSyntaxError } from './syntax-error.js';

/** Goes on behind the statement, or leaves the round or the loop. */
export type Signal = 'next' | 'continue' | 'break';

export type Execute = (scope: Scope) => Signal;

/** A template that is ready to run. */
export type Program = (variables: ReadonlyMap<string, Value>, runtime: Runtime) => string;

/** Throws TemplateSyntaxError, and LimitExceeded for a template that is nested too deeply. */
export const compileTemplate = (source: string, builtins: Builtins): Program => {
  const body = parse(source);
  const blocks = new Map<string, BlockFunction>();
  for (const block of blocksOf(body)) {
    if (blocks.has(block.name)) throw new TemplateSyntaxError(`the block ${block.name} is there twice`, block.line);
    blocks.set(block.name, compileFunction(block.body, builtins, block.name));
  }
  const main = compileFunction(body, builtins, null);
  return (variables, runtime) => main(new Context(variables, blocks), runtime);
};

/** The template itself (`block` is null), or a block: a function that sees the others' names in the context only. */
const compileFunction = (body: readonly Statement[], builtins: Builtins, block: string | null): BlockFunction => {
  const frame = Frame.root(builtins, block === null);
  const special = undeclared(body, block === null ? ['self'] : ['self', 'super']);
  const self = special.has('self') ? frame.write(frame.symbols.parameter('self')) : null;
  const above = special.has('super') ? frame.write(frame.symbols.parameter('super')) : null;
  frame.symbols.visit(body);
  const run = compileBody(body, frame);
  const enter = frame.enter();
  return (context, runtime) => {
    const scope = new Scope(null, context, runtime);
    self?.(scope, new TemplateReference(context));
    above?.(scope, BlockReference.above(block!));
    enter(scope);
    run(scope);
    return scope.take();
  };
};

export const compileBody = (body: readonly Statement[], frame: Frame): Execute => {
  const steps = body.map((statement) => ({ run: compileStatement(statement, frame), line: statement.line }));
  return (scope) => {
    const { runtime } = scope;
    for (const { run, line } of steps) {
      runtime.budget.step();
      runtime.line = line;
      const signal = run(scope);
      if (signal !== 'next') return signal;
    }
    return 'next';
  };
};

const always =
  (run: (scope: Scope) => void): Execute =>
  (scope) => {
    run(scope);
    return 'next';
  };

const compileStatement = (node: Statement, frame: Frame): Execute => {
  switch (node.type) {
    case 'output':
      return compileOutput(node.parts, frame);
    case 'if':
      return compileIf(node, frame);
    case 'for':
      return compileFor(node, frame);
    case 'set': {
      const value = compileExpression(node.value, frame);
      const assign = compileAssignment(node.target, frame);
      return always((scope) => assign(scope, () => value(scope)));
    }
    case 'set-block':
      return compileSetBlock(node, frame);
    case 'with':
      return compileWith(node, frame);
    case 'macro': {
      const macro = compileMacro(node, node.name, frame);
      const set = frame.write(frame.variable(node.name, node.line));
      return always((scope) => {
        const value = macro(scope);
        if (frame.isTop) scope.context.assign(node.name, value);
        set(scope, value);
      });
    }
    case 'call-block': {
      const caller = compileMacro(node, null, frame);
      const value = compileCall(node.call, frame, caller);
      return always((scope) => print(value(scope), frame, scope));
    }
    case 'generation': {
      const body = compileMacro({ ...node, params: [], defaults: [] }, null, frame);
      return always((scope) =>
        print(body(scope).call({ positional: [], named: new Map() }, scope.runtime), frame, scope),
      );
    }
    case 'filter-block':
      return compileFilterBlock(node, frame);
    case 'block':
      return compileBlock(node, frame);
    case 'autoescape':
      return compileAutoescape(node, frame);
    case 'other-template': {
      const template = compileExpression(node.template, frame);
      return (scope) => {
        template(scope);
        throw new PythonError('TypeError', `no loader for this environment specified ({% ${node.tag} %})`);
      };
    }
    case 'break':
    case 'continue': {
      if (!frame.inLoop) throw new TemplateSyntaxError(`{% ${node.type} %} stands outside of a loop`, node.line);
      const signal = node.type;
      return () => signal;
    }
  }
};

const print = (value: Value, frame: Frame, scope: Scope): void => {
  const { runtime } = scope;
  scope.write(frame.escapes(scope) ? escapeHtml(value, runtime).text : str(value, runtime));
};

const compileOutput = (parts: Of<'output'>['parts'], frame: Frame): Execute => {
  const writes = parts.map((part) => {
    if (typeof part === 'string') return (scope: Scope) => scope.write(part);
    const value = compileExpression(part, frame);
    const { line } = part;
    return (scope: Scope) => {
      scope.runtime.line = line;
      print(value(scope), frame, scope);
    };
  });
  return always((scope) => {
    for (const write of writes) write(scope);
  });
};

const compileIf = (node: Of<'if'>, outer: Frame): Execute => {
  const frame = outer.soft();
  const branches = node.branches.map(({ test, body }) => ({
    test: compileExpression(test, frame),
    body: compileBody(body, frame),
  }));
  const otherwise = compileBody(node.otherwise, frame);
  return (scope) => {
    for (const { test, body } of branches) if (isTrue(test(scope), scope.runtime)) return body(scope);
    return otherwise(scope);
  };
};

const compileSetBlock = (node: Of<'set-block'>, outer: Frame): Execute => {
  const frame = outer.inner();
  frame.symbols.visit(node.body);
  const [enter, leave] = [frame.enter(), frame.leave()];
  const body = compileBody(node.body, frame);
  const filter = node.filter === null ? null : compileExpression(node.filter, frame);
  const assign = compileAssignment(node.target, outer);
  return (scope) => {
    enter(scope);
    const captured = scope.capture(() => body(scope));
    if (captured.result !== 'next') return captured.result;
    assign(scope, () => {
      scope.filtered = captured.text;
      const value = filter === null ? captured.text : filter(scope);
      return scope.runtime.autoescape ? markup(value, scope.runtime) : value;
    });
    leave(scope);
    return 'next';
  };
};

const markup = (value: Value, runtime: Runtime): Markup =>
  value instanceof Markup ? value : new Markup(str(value, runtime));

const compileFilterBlock = (node: Of<'filter-block'>, outer: Frame): Execute => {
  const frame = outer.inner();
  frame.symbols.visit(node.body);
  frame.symbols.readAll(node.filter);
  const [enter, leave] = [frame.enter(), frame.leave()];
  const body = compileBody(node.body, frame);
  const filter = compileExpression(node.filter, frame);
  return (scope) => {
    enter(scope);
    const captured = scope.capture(() => body(scope));
    if (captured.result !== 'next') return captured.result;
    scope.filtered = captured.text;
    print(filter(scope), outer, scope);
    leave(scope);
    return 'next';
  };
};

const compileWith = (node: Of<'with'>, outer: Frame): Execute => {
  const frame = outer.inner();
  for (const target of node.targets) declareTarget(target, frame);
  frame.symbols.visit(node.body);
  const [enter, leave] = [frame.enter(), frame.leave()];
  const pairs = node.targets.map((target, index) => ({
    assign: compileTarget(target, frame),
    value: compileExpression(node.values[index]!, outer),
  }));
  const body = compileBody(node.body, frame);
  return (scope) => {
    enter(scope);
    for (const { assign, value } of pairs) assign(scope, value(scope));
    const signal = body(scope);
    if (signal === 'next') leave(scope);
    return signal;
  };
};

type Of<T extends Statement['type']> = Extract<
  Statement,
  {
    type: T;
  }
>;

/** Names of a target that are parameters of their scope. */
export const declareTarget = (target: Of<'with'>['targets'][number], frame: Frame): void => {
  if (target.type === 'tuple') target.items.forEach((item) => declareTarget(item, frame));
  else if (target.type === 'name') frame.symbols.parameter(target.name);
};

const compileBlock = (node: Of<'block'>, frame: Frame): Execute => {
  const { name, scoped, required } = node;
  const seen = scoped ? [...frame.symbols.stored()].map(([stored, at]) => [stored, frame.read(at)] as const) : [];
  return always((scope) => {
    if (required) throw new PythonError('TemplateRuntimeError', `Required block '${name}' not found`);
    let { context } = scope;
    if (scoped) {
      const values = seen.map(([stored, read]) => [stored, read(scope)] as const);
      context = context.derived(new Map(values.filter((pair): pair is [string, Value] => pair[1] !== undefined)));
    }
    const { budget } = scope.runtime;
    budget.enter();
    scope.write(context.blocks.get(name)!(context, scope.runtime));
    budget.leave();
  });
};

const compileAutoescape = (node: Of<'autoescape'>, outer: Frame): Execute => {
  const inner = outer.inner();
  inner.symbols.readAll(node.on);
  inner.symbols.visit(node.body);
  const on = compileExpression(node.on, inner);
  const isConstant = node.on.type === 'const';
  const frame = inner.escaping(isConstant ? Boolean(node.on.value) : null);
  const [enter, leave] = [frame.enter(), frame.leave()];
  const body = compileBody(node.body, frame);
  return (scope) => {
    const { runtime } = scope;
    const before = runtime.autoescape;
    enter(scope);
    runtime.autoescape = isTrue(on(scope), runtime);
    const signal = body(scope);
    runtime.autoescape = before;
    if (signal === 'next') leave(scope);
    return signal;
  };
};
