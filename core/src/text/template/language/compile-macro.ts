import { Undefined } from '../python/values.js';
import { compileExpression } from './compile-expression.js';
import { compileBody } from './compile.js';
import type { Frame } from './frame.js';
import { Macro, type MacroShape } from './macro.js';
import { undeclared } from './names.js';
import type { Signature, Statement } from './nodes.js';
import { Scope } from './scope.js';
import { TemplateSyntaxError } from './syntax-error.js';

interface MacroNode extends Signature {
  readonly body: readonly Statement[];
  readonly line: number;
}

/** A macro, or (`name` is null) the body of a `{% call %}` or `{% generation %}`; it sees the scope that it stands in. */
export const compileMacro = (node: MacroNode, name: string | null, outer: Frame): ((scope: Scope) => Macro) => {
  const frame = outer.innerFunction();
  const { params, defaults } = node;
  for (const param of params) frame.symbols.parameter(param);
  defaults.forEach((value) => frame.symbols.readAll(value));
  const special = undeclared(node.body, ['caller', 'kwargs', 'varargs']);
  const shape: MacroShape = {
    name,
    params,
    caller: special.has('caller'),
    kwargs: special.has('kwargs') && !params.includes('kwargs'),
    varargs: special.has('varargs') && !params.includes('varargs'),
  };
  const defaultOf = (index: number): number => index - (params.length - defaults.length);
  if (shape.caller && params.includes('caller') && defaultOf(params.indexOf('caller')) < 0) {
    throw new TemplateSyntaxError('the parameter caller must be left out or have a default', node.line);
  }
  const more = [
    ...(shape.caller && !params.includes('caller') ? ['caller'] : []),
    ...(shape.kwargs ? ['kwargs'] : []),
    ...(shape.varargs ? ['varargs'] : []),
  ];
  const writes = [...params, ...more].map((param) => frame.write(frame.symbols.parameter(param)));
  frame.symbols.visit(node.body);
  const enter = frame.enter();
  const fallbacks = params.map((param, index) => {
    const place = defaultOf(index);
    const absent = new Undefined(() => `parameter '${param}' was not provided`);
    return place < 0 ? () => absent : compileExpression(defaults[place]!, frame);
  });
  const run = compileBody(node.body, frame);

  return (outerScope) =>
    new Macro(shape, (values, runtime) => {
      const scope = new Scope(outerScope, outerScope.context, runtime);
      writes.forEach((write, index) => write(scope, values[index]));
      enter(scope);
      fallbacks.forEach((fallback, index) => {
        if (values[index] === undefined) writes[index]!(scope, fallback(scope));
      });
      run(scope);
      return scope.take();
    });
};
