import type { CallArguments, Expression, Statement, Target } from './nodes.js';

const callParts = ({ args, named, moreArgs, moreNamed }: CallArguments): (Expression | null)[] => [
  ...args,
  ...named.map(({ value }) => value),
  moreArgs,
  moreNamed,
];

export type NameUse = 'load' | 'store' | 'param';

/** Sees the names of a tree in the order in which Python's jinja2 does; blocks are looked at on their own. */
export type NameVisitor = (name: string, use: NameUse) => void;

/** The expressions that an expression is made of. */
export const partsOf = (node: Expression): (Expression | null)[] => {
  switch (node.type) {
    case 'const':
    case 'name':
      return [];
    case 'tuple':
    case 'list':
      return [...node.items];
    case 'dict':
      return node.entries.flat();
    case 'condition':
      return [node.test, node.then, node.otherwise];
    case 'and':
    case 'or':
    case 'arithmetic':
      return [node.left, node.right];
    case 'not':
    case 'sign':
    case 'attribute':
      return [node.of];
    case 'concat':
      return [...node.parts];
    case 'compare':
      return [node.first, ...node.rest.map(([, value]) => value)];
    case 'item':
      return [node.of, node.key];
    case 'slice':
      return [node.of, node.start, node.stop, node.step];
    case 'call':
    case 'filter':
    case 'test':
      return [node.of, ...callParts(node)];
  }
};

/** Names that an expression reads. */
export const readNames = (node: Expression | null, visit: (name: string) => void): void => {
  if (node === null) return;
  if (node.type === 'name') visit(node.name);
  for (const part of partsOf(node)) readNames(part, visit);
};

/** Names that get a value. */
export const targetNames = (target: Target): string[] => {
  if (target.type === 'tuple') return target.items.flatMap(targetNames);
  return target.type === 'name' ? [target.name] : [];
};

/** Names whose fields get a value. */
export const fieldOwners = (target: Target): string[] => {
  if (target.type === 'tuple') return target.items.flatMap(fieldOwners);
  return target.type === 'field' ? [target.name] : [];
};

export const walkNames = (nodes: readonly Statement[], visit: NameVisitor): void => {
  for (const node of nodes) walkStatement(node, visit);
};

const walkStatement = (node: Statement, visit: NameVisitor): void => {
  const read = (expression: Expression | null): void => readNames(expression, (name) => visit(name, 'load'));
  const store = (target: Target, use: NameUse = 'store'): void =>
    targetNames(target).forEach((name) => visit(name, use));
  switch (node.type) {
    case 'output':
      node.parts.forEach((part) => read(typeof part === 'string' ? null : part));
      break;
    case 'for':
      store(node.target);
      read(node.of);
      walkNames(node.body, visit);
      walkNames(node.otherwise, visit);
      read(node.test);
      break;
    case 'if':
      for (const { test, body } of node.branches) {
        read(test);
        walkNames(body, visit);
      }
      walkNames(node.otherwise, visit);
      break;
    case 'set':
      store(node.target);
      read(node.value);
      break;
    case 'set-block':
      store(node.target);
      read(node.filter);
      walkNames(node.body, visit);
      break;
    case 'with':
      node.targets.forEach((target) => store(target, 'param'));
      node.values.forEach(read);
      walkNames(node.body, visit);
      break;
    case 'call-block':
    case 'macro':
      if (node.type === 'call-block') read(node.call);
      node.params.forEach((name) => visit(name, 'param'));
      node.defaults.forEach(read);
      walkNames(node.body, visit);
      break;
    case 'filter-block':
      walkNames(node.body, visit);
      read(node.filter);
      break;
    case 'autoescape':
      read(node.on);
      walkNames(node.body, visit);
      break;
    case 'generation':
      walkNames(node.body, visit);
      break;
    case 'other-template':
      read(node.template);
      break;
    case 'block':
    case 'break':
    case 'continue':
      break;
  }
};

/** Which of the names are read before they are given a value. */
export const undeclared = (nodes: readonly Statement[], names: readonly string[]): Set<string> => {
  const open = new Set(names);
  const found = new Set<string>();
  walkNames(nodes, (name, use) => {
    if (use === 'load' && open.has(name)) found.add(name);
    else open.delete(name);
  });
  return found;
};

/** All blocks of a template, wherever they stand. */
export const blocksOf = (
  nodes: readonly Statement[],
): Extract<
  Statement,
  {
    type: 'block';
  }
>[] => nodes.flatMap((node) => [...(node.type === 'block' ? [node] : []), ...bodiesOf(node).flatMap(blocksOf)]);

const bodiesOf = (node: Statement): (readonly Statement[])[] => {
  if (node.type === 'if') return [...node.branches.map(({ body }) => body), node.otherwise];
  if (node.type === 'for') return [node.body, node.otherwise];
  return 'body' in node ? [node.body] : [];
};
