/**
 * `import { a } from '@kvad/core'` as an import of the module that `a` is of. A bundler puts into a file what its modules
 * name, used or not: through the index of a package that is the whole package.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'rolldown/parseAst';

const parsed = new Map();

/** The top-level statements of a module. */
const statementsOf = (file) => {
  if (!parsed.has(file)) parsed.set(file, parseAst(readFileSync(file, 'utf8')).body);
  return parsed.get(file);
};

/** The module that exports `name` itself, and the name that it has there; null: this module has no such export. */
const homeOf = (name, file) => {
  for (const statement of statementsOf(file)) {
    const from = statement.source && path.resolve(path.dirname(file), statement.source.value);
    if (statement.type === 'ExportAllDeclaration' && statement.exported === null) {
      const found = homeOf(name, from);
      if (found !== null) return found;
    }
    if (statement.type !== 'ExportNamedDeclaration') continue;
    const specifier = statement.specifiers.find(({ exported }) => exported.name === name);
    if (specifier !== undefined) return from ? homeOf(specifier.local.name, from) : { file, name };
    if (declaredBy(statement.declaration).includes(name)) return { file, name };
  }
  return null;
};

const declaredBy = (declaration) =>
  (declaration?.declarations ?? [declaration]).map((one) => one?.id?.name).filter((name) => name !== undefined);

/** `code` with each import and export from one of `indexes` (specifier -> file) as those of the modules behind it. */
export const importedDirectly = (code, indexes) => {
  let result = '';
  let at = 0;
  for (const statement of parseAst(code).body) {
    const index = statement.source ? indexes[statement.source.value] : undefined;
    if (index === undefined) continue;
    const direct = (statement.specifiers ?? [null]).map((specifier) => directly(specifier, index));
    result += code.slice(at, statement.start) + direct.join('\n');
    at = statement.end;
  }
  return result + code.slice(at);
};

const directly = (specifier, index) => {
  const isImport = specifier?.type === 'ImportSpecifier';
  if (!isImport && specifier?.type !== 'ExportSpecifier') throw new Error(`all of ${index} is imported at once`);
  const [theirs, ours] = isImport ? [specifier.imported, specifier.local] : [specifier.local, specifier.exported];
  const home = homeOf(theirs.name, index);
  if (home === null) throw new Error(`${index} exports no ${theirs.name}`);
  return `${isImport ? 'import' : 'export'} { ${home.name} as ${ours.name} } from ${JSON.stringify(home.file)};`;
};
