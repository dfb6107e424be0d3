import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Import, importsOf, judge } from './imports.js';
import { packages, read, sourcesOf } from './sources.js';

const all = packages();

describe('direction of imports', () => {
  it.each(all.map((one) => [one.folder, one] as const))('%s imports only what it may', (folder, importer) => {
    const wrong = sourcesOf(folder).flatMap((file) =>
      importsOf(file, read(file))
        .map((one) => judge(one, file, importer, all))
        .filter((finding) => finding !== null),
    );
    expect(wrong).toEqual([]);
  });

  it.each(all.map((one) => [one.folder, one] as const))(
    '%s depends only on what it may import',
    (folder, { manifest }) => {
      const named = ['dependencies', 'peerDependencies', 'optionalDependencies'].flatMap((field) =>
        Object.keys((manifest[field] as object | undefined) ?? {}),
      );
      const before: Record<string, string[]> = {
        schemas: [],
        core: ['@kvad/schemas'],
        'arch-registry': ['@kvad/core', '@kvad/schemas'],
        cli: all.map(({ name }) => name).filter((name) => name !== 'kvad'),
      };
      const allowed = before[folder] ?? ['@kvad/core'];
      expect(named.filter((name) => all.some((one) => one.name === name) && !allowed.includes(name))).toEqual([]);
    },
  );

  it('a plugin takes core as a peer, so that there is one copy', () => {
    for (const { folder, manifest } of all.filter((one) => one.folder.startsWith('plugins/'))) {
      expect(Object.keys((manifest['peerDependencies'] as object | undefined) ?? {}), folder).toEqual(['@kvad/core']);
      expect(manifest['dependencies'], folder).toBeUndefined();
    }
  });
});

describe('the plugin surface', () => {
  it('holds no engine: what it loads is plain data and functions over it', () => {
    const loaded = loadedBy('core/src/plugin.ts');
    const foreign = loaded.filter(
      ({ file }) => !/^core\/src\/(plugin\.ts$|axes\/[^/]+\.ts$|plan\/|errors\/)/.test(file),
    );
    expect(foreign.map(({ file, because }) => `${file} through ${because}`)).toEqual([]);
  });

  it('needs no other package when it is loaded', () => {
    const bare = loadedBy('core/src/plugin.ts').flatMap(({ file }) =>
      importsOf(file, read(file)).filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.')),
    );
    expect(bare.map(({ where, specifier }) => `${where}: ${specifier}`)).toEqual([]);
  });
});

describe('the gate itself', () => {
  const plugin = {
    folder: 'plugins/planted',
    name: '@kvad/arch-planted',
    manifest: { peerDependencies: { '@kvad/core': '1' } },
  };
  const finding = (specifier: string, folder: string): string | null => {
    const importer = folder === plugin.folder ? plugin : all.find((one) => one.folder === folder)!;
    const planted: Import = { specifier, typeOnly: false, where: 'planted:1' };
    return judge(planted, `${folder}/src/deep/planted.ts`, importer, [...all, plugin]);
  };

  it.each([
    ['@kvad/core', 'schemas', 'must not import'],
    ['@kvad/arch-registry', 'core', 'must not import'],
    ['@kvad/arch-dense', 'core', 'must not import'],
    ['@kvad/arch-dense', 'cli', 'must not import'],
    ['kvad', 'arch-registry', 'must not import'],
    ['@kvad/core', 'plugins/planted', 'must not import'],
    ['@kvad/arch-dense', 'plugins/planted', 'must not import'],
    ['@kvad/core/dist/runtime/model.js', 'cli', 'must not import'],
    ['../../../core/src/index.js', 'plugins/planted', 'leaves the package'],
    ['node:fs', 'plugins/planted', 'a plugin is data'],
    ['ajv', 'plugins/planted', 'is not a dependency'],
    ['left-pad', 'core', 'is not a dependency'],
  ])('sees %s in %s', (specifier, folder, expected) => {
    expect(finding(specifier, folder)).toContain(expected);
  });

  it('lets through what is allowed', () => {
    expect(finding('@kvad/core/plugin', 'plugins/planted')).toBeNull();
    expect(finding('../planted-too.js', 'plugins/planted')).toBeNull();
    expect(finding('@kvad/core', 'arch-registry')).toBeNull();
    expect(finding('node:fs', 'core')).toBeNull();
  });

  it('sees every spelling of an import', () => {
    const text = `
      import a from 'a'; import type { b } from 'b'; export * from 'c'; export type { d } from 'd';
      const e = await import('e'); type F = import('f').F; const g = require('g'); import { type H } from 'h';`;
    const seen = importsOf('x.ts', text).map(({ specifier, typeOnly }) => `${specifier}${typeOnly ? ' (type)' : ''}`);
    expect(seen).toEqual(['a', 'b (type)', 'c', 'd (type)', 'e', 'f (type)', 'g', 'h']);
  });
});

/** The files that a source loads at run time, itself first, each with the file that asked for it. */
function loadedBy(entry: string): { file: string; because: string }[] {
  const found = new Map([[entry, '']]);
  for (const [file] of found) {
    for (const { specifier, typeOnly } of importsOf(file, read(file))) {
      if (typeOnly || !specifier.startsWith('.')) continue;
      const target = path.posix.join(path.posix.dirname(file), specifier.replace(/\.js$/, '.ts'));
      if (!found.has(target)) found.set(target, file);
    }
  }
  return [...found].map(([file, because]) => ({ file, because }));
}
