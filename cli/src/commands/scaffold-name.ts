import { KvadError } from '@kvad/core';

/** The names of a new package. */
export interface ScaffoldName {
  /** `kvad-arch-foo`, `@me/kvad-arch-foo`. */
  readonly package: string;
  /** `foo`. */
  readonly modelType: string;
  /** `Foo`: of its config's type. */
  readonly title: string;
  /** `foo`, with dashes: of its parts' kinds. */
  readonly kebab: string;
  /** Of the exported family. */
  readonly variable: string;
  /** Where it goes unless somebody says otherwise. */
  readonly folder: string;
}

const NAME = /^(@[a-z0-9][a-z0-9._-]*\/)?(kvad-arch-)?([a-z][a-z0-9._-]*)$/;

/** `foo`, `kvad-arch-foo` and `@me/kvad-arch-foo` make the model type `foo`. Throws KVAD_E_SCAFFOLD. */
export const scaffoldName = (given: string): ScaffoldName => {
  const found = NAME.exec(given);
  if (found === null) {
    const reason =
      'a name has small letters, digits, - and _, and begins with a letter: foo, kvad-arch-foo, @me/kvad-arch-foo';
    throw new KvadError('KVAD_E_SCAFFOLD', { name: given, reason });
  }
  const [, scope = '', , base = ''] = found;
  const words = base.split(/[._-]+/).filter((word) => word !== '');
  const title = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const folder = `kvad-arch-${base.replaceAll('_', '-')}`;
  return {
    package: scope + folder,
    modelType: words.join('_'),
    title,
    kebab: words.join('-'),
    variable: `${title.charAt(0).toLowerCase()}${title.slice(1)}Family`,
    folder,
  };
};
