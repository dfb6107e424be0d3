/** Which package may import which; the gate of DESIGN's direction of imports. */
import path from 'node:path';
import ts from 'typescript';
import { lineOf, nodesOf, parse, type WorkspacePackage } from './sources.js';

export interface Import {
  readonly specifier: string;
  /** Erased by the compiler: `import type`, `export type`, `import('x').T`. */
  readonly typeOnly: boolean;
  readonly where: string;
}

/** Every module that a source names, whatever the spelling. */
export const importsOf = (file: string, text: string): Import[] => {
  const source = parse(file, text);
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      found.push({ specifier: specifier.text, typeOnly, where: lineOf(source, node) });
    }
  };
  for (const node of nodesOf(source)) {
    if (ts.isImportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal, true);
    else if (ts.isCallExpression(node) && isModuleCall(node.expression)) add(node, node.arguments[0], false);
  }
  return found;
};

/** `import(x)`, `require(x)`, `require.resolve(x)`. */
const isModuleCall = (callee: ts.Expression): boolean =>
  callee.kind === ts.SyntaxKind.ImportKeyword ||
  (ts.isIdentifier(callee) && callee.text === 'require') ||
  (ts.isPropertyAccessExpression(callee) && callee.expression.getText() === 'require');

/** What a package may import of the others, by the folder that it lies in. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  core: ['@kvad/schemas'],
  'arch-registry': ['@kvad/core', '@kvad/core/plugin', '@kvad/core/package.json', '@kvad/schemas'],
  cli: [
    '@kvad/arch-registry',
    '@kvad/core',
    '@kvad/core/errors',
    '@kvad/core/plugin',
    '@kvad/core/testing',
    '@kvad/schemas',
  ],
  plugins: ['@kvad/core/plugin'],
};

/** What is wrong with one import of a file in `importer`, or null. `all` are the packages of the workspace. */
export const judge = (
  { specifier, where }: Import,
  file: string,
  importer: WorkspacePackage,
  all: readonly WorkspacePackage[],
): string | null => {
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), specifier);
    return target.startsWith(`${importer.folder}/`) ? null : `${where}: ${specifier} leaves the package`;
  }
  const isPlugin = importer.folder.startsWith('plugins/');
  if (specifier.startsWith('node:')) {
    return isPlugin ? `${where}: a plugin is data, it needs no ${specifier}` : null;
  }

  const name = packageOf(specifier);
  const target = all.find((one) => one.name === name);
  if (target !== undefined) {
    const allowed = MAY_IMPORT[isPlugin ? 'plugins' : importer.folder] ?? [];
    if (!allowed.includes(specifier)) return `${where}: ${importer.folder} must not import ${specifier}`;
    const exported = target.manifest['exports'] as Record<string, unknown>;
    if (!(`.${specifier.slice(name.length)}` in exported)) return `${where}: ${name} does not export ${specifier}`;
  }
  return declares(importer, name) ? null : `${where}: ${name} is not a dependency in ${importer.folder}/package.json`;
};

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const declares = ({ manifest }: WorkspacePackage, name: string): boolean =>
  ['dependencies', 'peerDependencies', 'optionalDependencies'].some(
    (field) => name in ((manifest[field] as Record<string, string> | undefined) ?? {}),
  );
