import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLUGIN_API_VERSION } from '@kvad/core/plugin';
import type { Axis } from '@kvad/core/plugin';
import { PART_LISTS, type Registry } from '@kvad/arch-registry';
import type { ScaffoldName } from './scaffold-name.js';

const TEMPLATES = fileURLToPath(new URL('../../templates/plugin', import.meta.url));
const SUFFIX = '.template';

/** A part of its own that a new package begins with. */
export type OwnPart = 'mixer' | 'ffn';

/** A kind of part. */
export interface Kind {
  readonly axis: Axis;
  readonly kind: string;
}

/** Text by path in the package. */
export type Files = ReadonlyMap<string, string>;

/** What a family brings into a new package. */
export interface FamilyFiles {
  readonly files: Files;
  /** The name that its module exports. */
  readonly variable: string;
  /** Kinds that others bring, by their package. */
  readonly needs: ReadonlyMap<string, Readonly<Partial<Record<Axis, readonly string[]>>>>;
}

/** Templates of a family; the others are of the package. */
const OF_FAMILY = /^(src\/(families|generated)|schemas|test\/fixture)\//;

/** A plain decoder, with the parts of its own that it begins with in place of attention and gated feed-forward. */
export const plainFamily = async (
  name: ScaffoldName,
  own: readonly OwnPart[],
  registry: Registry,
): Promise<FamilyFiles> => {
  const plain: readonly Kind[] = [
    { axis: 'mixer', kind: 'attention' },
    { axis: 'ffn', kind: 'glu' },
  ];
  const kinds = plain.filter(({ axis }) => !own.some((part) => part === axis));
  const files = render((file) => OF_FAMILY.test(file), name, own, { export: name.variable });
  return { files, variable: name.variable, needs: await providersOf(kinds, registry) };
};

/** The packages that bring kinds; those of core need none. Imports them. */
export const providersOf = async (kinds: readonly Kind[], registry: Registry): Promise<FamilyFiles['needs']> => {
  const needs = new Map<string, Partial<Record<Axis, string[]>>>();
  for (const { found } of await registry.require(kinds)) {
    const brought = kinds.filter(({ axis, kind }) => found.parts[axis]?.includes(kind));
    const lists: Partial<Record<Axis, string[]>> = {};
    for (const { axis, kind } of brought) lists[axis] = [...new Set([...(lists[axis] ?? []), kind])];
    needs.set(found.name, lists);
  }
  return needs;
};

/** All files of a new package. */
export const packageFiles = (name: ScaffoldName, own: readonly OwnPart[], family: FamilyFiles): Files => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const providers = [...family.needs.keys()].sort();
  const kinds = [
    ...(own.includes('mixer') ? [['mixers', [`${name.kebab}-memory`]]] : []),
    ...(own.includes('ffn') ? [['feedForwards', [`${name.kebab}-ffn`]]] : []),
  ];
  const development = [...['@kvad/core', ...providers].map((one) => [one, `^${version}`]), ['typescript', '>=5.5']];
  const words = {
    export: family.variable,
    version,
    parts: spaced(Object.fromEntries(kinds)),
    needs: spaced(Object.fromEntries(providers.map((one) => [one, listsOf(family.needs.get(one) ?? {})]))),
    devDependencies: spaced(Object.fromEntries(development)),
    plugins: spaced(providers),
  };
  const rest = render((file) => !OF_FAMILY.test(file) && wanted(file, own), name, own, words);
  return new Map([...rest, ...family.files]);
};

const wanted = (file: string, own: readonly OwnPart[]): boolean => {
  const part = /^src\/parts\/(mixer|ffn)\.ts$/.exec(file)?.[1];
  return part === undefined || own.includes(part as OwnPart);
};

const listsOf = (kinds: Readonly<Partial<Record<Axis, readonly string[]>>>): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(kinds).map(([axis, names]) => [PART_LISTS[axis as Axis], names]));

/** Templates with `{{words}}` filled in; a line `?mixer …` stands where there is one, `?!mixer …` where there is none. */
const render = (
  wanted: (file: string) => boolean,
  name: ScaffoldName,
  given: readonly OwnPart[],
  words: Readonly<Record<string, string>>,
): Files => {
  const all: Readonly<Record<string, string>> = {
    ...{ package: name.package, type: name.modelType, Type: name.title, kebab: name.kebab },
    ...{ apiVersion: String(PLUGIN_API_VERSION), ...words },
  };
  const holds = (condition: string): boolean =>
    condition === 'plain' || condition === 'parts'
      ? given.length > 0 === (condition === 'parts')
      : given.some((one) => one === condition);
  const line = (text: string): string[] => {
    const [, not, condition, rest] = /^\?(!?)(\w+) (.*)$/s.exec(text) ?? [];
    if (condition === undefined) return [text];
    return holds(condition) === (not === '') ? [rest ?? ''] : [];
  };
  const fill = (text: string): string => text.replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => all[word]!);
  const templates = readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith(SUFFIX),
  );
  return new Map(
    templates
      .map((file) => [file, fileName(file, name)] as const)
      .filter(([, file]) => wanted(file))
      .map(([template, file]) => {
        const text = readFileSync(path.join(TEMPLATES, template), 'utf8');
        return [file, fill(text.split('\n').flatMap(line).join('\n'))];
      }),
  );
};

/** `src/families/type.ts.template` -> `src/families/foo.ts`; npm would leave a `.gitignore` out of the package. */
const fileName = (template: string, { modelType }: ScaffoldName): string =>
  template
    .split(path.sep)
    .join('/')
    .slice(0, -SUFFIX.length)
    .replace(/^gitignore$/, '.gitignore')
    .replace(/^(src\/families|schemas)\/type\./, `$1/${modelType}.`);

/** On one line, as a person writes it. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
