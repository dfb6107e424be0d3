import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../cli/dist/commands/main.js';
import { scaffoldName } from '../../../cli/dist/commands/scaffold-name.js';
import { fakeIo } from './fake-io.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'kvad-new-'))));
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const archNew = async (...words: string[]): Promise<{ exit: number; out: string; err: string }> => {
  const io = fakeIo({ cwd: folder });
  const exit = await runCommandLine(['arch', 'new', ...words], io);
  return { exit, out: io.out(), err: io.err() };
};

/** That they build and pass the kit, the tests of the packed packages show. */
describe('kvad arch new', () => {
  it('writes a package into a new folder, and no placeholder stays', async () => {
    const { exit, out } = await archNew('@me/kvad-arch-two-words', '--with', 'ffn', '--json');
    expect(exit).toBe(0);
    const result = JSON.parse(out) as { files: string[]; directory: string };
    expect(result).toMatchObject({ name: '@me/kvad-arch-two-words', model_type: 'two_words' });
    expect(result.directory).toBe(path.join(folder, 'kvad-arch-two-words'));
    expect(result.files).toContain('src/parts/ffn.ts');
    expect(result.files).not.toContain('src/parts/mixer.ts');
    for (const file of result.files) {
      const text = readFileSync(path.join(result.directory, file), 'utf8');
      expect(text).not.toMatch(/\{\{|^\?|undefined/m);
    }
    const description = JSON.parse(readFileSync(path.join(result.directory, 'package.json'), 'utf8')) as unknown;
    expect(description).toMatchObject({
      keywords: ['kvad-plugin'],
      kvad: {
        modelTypes: ['two_words'],
        parts: { feedForwards: ['two-words-ffn'] },
        needs: { '@kvad/arch-dense': { mixers: ['attention'] } },
      },
    });
  });

  it.each<[string, string[], number, RegExp]>([
    ['a type that is taken', ['llama'], 1, /KVAD_E_SCAFFOLD/],
    ['a name that is none', ['../evil'], 1, /KVAD_E_SCAFFOLD/],
    ['a family that is not there', ['foo', '--like', 'nonsense'], 1, /KVAD_E_ARCH_UNKNOWN/],
    ['a family whose layout cannot be told backwards', ['foo', '--like', 'deepseek_v3'], 1, /KVAD_E_SCAFFOLD/],
    ['parts that there are not', ['foo', '--with', 'mixer,head'], 2, /'head'/],
    ['a file in the place of the folder', ['foo', '--dir', 'file'], 1, /KVAD_E_SCAFFOLD/],
    ['a folder that is not empty', ['foo', '--dir', '.'], 1, /not empty/],
  ])('refuses %s, and writes nothing', async (_, words, code, message) => {
    writeFileSync(path.join(folder, 'file'), '');
    const { exit, out, err } = await archNew(...words);
    expect({ exit, out }).toEqual({ exit: code, out: '' });
    expect(err).toMatch(message);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it.each([
    ['foo', 'kvad-arch-foo', 'foo', 'Foo'],
    ['kvad-arch-foo', 'kvad-arch-foo', 'foo', 'Foo'],
    ['foo_2b', 'kvad-arch-foo-2b', 'foo_2b', 'Foo2b'],
    ['@me/foo', '@me/kvad-arch-foo', 'foo', 'Foo'],
  ])('%s is the package %s of the type %s', (given, name, modelType, title) => {
    expect(scaffoldName(given)).toMatchObject({ package: name, modelType, title });
  });
});
