/**
 * `kvad/inject-every-parameter`: each constructor parameter of an `@injectable` class carries `@inject` or `@injectAll`.
 *
 * tsyringe can read a parameter's type from the metadata that `tsc` writes; tsx, esbuild and vitest drop that metadata,
 * and the container then fails at run time. A token on the parameter works everywhere.
 */
const MANAGED = new Set(['injectable', 'singleton', 'scoped', 'autoInjectable']);
const INJECTING = new Set(['inject', 'injectAll', 'injectWithTransform', 'injectAllWithTransform']);

/** `inject` of `@inject`, `@inject(TOKEN)` and `@di.inject(TOKEN)`. */
const nameOf = ({ expression }) => {
  const callee = expression.type === 'CallExpression' ? expression.callee : expression;
  return callee.type === 'MemberExpression' ? callee.property.name : callee.name;
};

const carries = (node, names) => (node.decorators ?? []).some((decorator) => names.has(nameOf(decorator)));

/** `private readonly x: X` wraps its name, `x = 1` its target. */
const parameterName = (node) => {
  if (node.type === 'TSParameterProperty') return parameterName(node.parameter);
  if (node.type === 'AssignmentPattern') return parameterName(node.left);
  if (node.type === 'RestElement') return parameterName(node.argument);
  return node.name ?? 'a destructured parameter';
};

const checkClass = (context) => (node) => {
  if (!carries(node, MANAGED)) return;
  const constructor = node.body.body.find(
    (member) => member.type === 'MethodDefinition' && member.kind === 'constructor',
  );
  for (const parameter of constructor?.value.params ?? []) {
    if (carries(parameter, INJECTING)) continue;
    context.report({
      node: parameter,
      messageId: 'missing',
      data: { parameter: parameterName(parameter), class: node.id?.name ?? 'this class' },
    });
  }
};

export const injectEveryParameter = {
  meta: {
    type: 'problem',
    docs: { description: 'require @inject or @injectAll on every constructor parameter of an @injectable class' },
    messages: { missing: '{{parameter}} of {{class}} needs @inject(TOKEN): its type alone is lost outside of tsc' },
    schema: [],
  },
  create: (context) => ({ ClassDeclaration: checkClass(context), ClassExpression: checkClass(context) }),
};
