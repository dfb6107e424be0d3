/** What the gates look at: the tracked files of this repository, and the syntax trees of its packages' sources. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Absolute path of a file of the repository. */
export const at = (file: string): string => `${root}${file}`;
export const read = (file: string): string => readFileSync(at(file), 'utf8');
export const readJson = (file: string): Record<string, unknown> => JSON.parse(read(file)) as Record<string, unknown>;

/** Files that git tracks, and new ones that it does not ignore: what a commit of everything would hold. */
export const repositoryFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], { cwd: root })
    .toString()
    .split('\0')
    .filter((file) => file !== '' && ts.sys.fileExists(at(file)))
    .sort();

/** A workspace package by its folder. */
export interface WorkspacePackage {
  readonly folder: string;
  readonly name: string;
  readonly manifest: Record<string, unknown>;
}

export const packages = (): WorkspacePackage[] =>
  repositoryFiles()
    .filter((file) => /^(schemas|core|arch-registry|cli|plugins\/[^/]+)\/package\.json$/.test(file))
    .map((file) => {
      const manifest = readJson(file);
      return { folder: file.replace('/package.json', ''), name: manifest['name'] as string, manifest };
    });

/** Every model_type that a plugin of this repository registers. */
export const registeredModelTypes = (): string[] =>
  packages()
    .flatMap(({ manifest }) => (manifest['kvad'] as { modelTypes?: string[] } | undefined)?.modelTypes ?? [])
    .sort();

/** Hand-written sources under these folders: TypeScript of `src`, JavaScript of `bin`. */
export const sourcesOf = (...folders: string[]): string[] =>
  repositoryFiles().filter(
    (file) =>
      folders.some((folder) => file.startsWith(`${folder}/src/`) || file.startsWith(`${folder}/bin/`)) &&
      /\.(ts|js|mjs)$/.test(file) &&
      !file.includes('/generated/'),
  );

export const parse = (file: string, text: string): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);

/** Each node of a tree, parents first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}

/** `file:line`, counted from 1. */
export const lineOf = (source: ts.SourceFile, node: ts.Node): string =>
  `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
