import { statSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '@kvad/core';
import { isPath, refuseModelFolder } from './discover.js';
import { PACKAGE_NAME } from './validate.js';

const TARBALL = /\.(tgz|tar\.gz)$/i;

/**
 * What npm is told for the words of `kvad arch add`: a package with or without a version, or the absolute path of a
 * folder or tarball. Other things that npm would take (git, aliases) are refused: they fetch code from elsewhere than
 * their name says. Throws KVAD_E_PLUGIN_SPEC, KVAD_E_PLUGIN_IN_MODEL.
 */
export const npmSpec = (spec: string, workingDirectory: string): string => {
  const refuse = (reason: string): never => {
    throw new KvadError('KVAD_E_PLUGIN_SPEC', { spec, reason });
  };
  const file = path.resolve(workingDirectory, spec);
  const found = statSync(file, { throwIfNoEntry: false });
  if (isPath(spec) || (TARBALL.test(spec) && found !== undefined)) {
    if (found === undefined) return refuse('there is no such folder or file');
    if (found.isDirectory()) refuseModelFolder(file, `kvad arch add ${spec}`);
    else if (!found.isFile() || !TARBALL.test(file)) return refuse('it is neither a folder nor a .tgz file');
    return file;
  }
  if (/^https:\/\//.test(spec)) return TARBALL.test(spec) ? spec : refuse('it is not the address of a .tgz file');
  const [, name = '', version] = /^(@?[^@]*)(@.*)?$/s.exec(spec) ?? [];
  if (!PACKAGE_NAME.test(name)) return refuse('it is no package name');
  if (version !== undefined && !/^@[\w.^~<>=*+ -]+$/.test(version))
    return refuse(`"${version.slice(1)}" is no version of a package`);
  return spec;
};
