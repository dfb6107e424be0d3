import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fixtureDirectory, readReference } from '@kvad/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { $ } from 'zx';
import { at, read, readJson, repositoryFiles } from '../gates/sources.js';
import { installPacked, type Installed } from './installed.js';

const MINUTES = 60_000;
let installed: Installed;

beforeAll(async () => {
  installed = await installPacked();
}, 10 * MINUTES);

afterAll(() => {
  installed.remove();
});

describe('kvad from its packed packages, in an empty folder', { timeout: 5 * MINUTES }, () => {
  it('says its version', async () => {
    const { version } = readJson('cli/package.json') as { version: string };
    expect(await installed.kvad('--version')).toEqual({ stdout: `kvad ${version}\n`, stderr: '', exitCode: 0 });
  });

  it('continues a text with the bundled model, as its reference does', async () => {
    const { stdout, exitCode } = await installed.kvad(
      ...['run', '--raw', '--prompt', 'Once upon a time', '--greedy', '--max-tokens', '20'],
      ...['--quant', 'f32', '--kv-cache-dtype', 'f32'],
    );
    expect(exitCode).toBe(0);
    const { greedy_text: expected } = readJson('test/fixtures/bundled/reference.json') as { greedy_text: string };
    expect(stdout.trim().length).toBeGreaterThan(40);
    expect(expected.startsWith(stdout.trim())).toBe(true);
  });

  it('tells a story', async () => {
    const { stdout, exitCode } = await installed.kvad('run', '--prompt', 'Tell me a story about a fox and a lantern');
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeGreaterThan(100);
  });

  it('lists the bundled plugins with their origin', async () => {
    const { stdout } = await installed.kvad('arch', '--json');
    const { plugins } = JSON.parse(stdout) as { plugins: { name: string; origin: string }[] };
    expect(plugins).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: '@kvad/arch-dense', origin: 'bundled' })]),
    );
  });
});

/** The packed example plugins, as their authors publish them: built by the compiler in the user's folder. */
const packExample = async (name: string): Promise<{ tarball: string; fixture: string; folder: string }> => {
  const folder = path.join(installed.folder, 'sources', name);
  cpSync(at(`test/e2e/plugins/${name}`), folder, { recursive: true, filter: (file) => path.basename(file) !== 'dist' });
  const inFolder = $({ cwd: folder, quiet: true });
  if (existsSync(path.join(folder, 'tsconfig.json'))) await inFolder`${at('node_modules/.bin/tsc')} -p .`;
  const { stdout } = await inFolder`npm pack --ignore-scripts --json`;
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return { tarball: path.join(folder, filename), fixture: path.join(folder, 'test/fixture'), folder };
};

const EXAMPLES = [
  { name: 'kvad-arch-example-data', modelType: 'example_decoder', lines: 60 },
  { name: 'kvad-arch-example-maths', modelType: 'example_scan', lines: 150 },
];

describe.each(EXAMPLES)('$name, a plugin of someone else', { timeout: 5 * MINUTES }, ({ name, modelType, lines }) => {
  let packed: Awaited<ReturnType<typeof packExample>>;
  beforeAll(async () => {
    packed = await packExample(name);
  }, 5 * MINUTES);

  it(`has at most ${lines} lines of program, its test among them`, () => {
    const sources = repositoryFiles().filter((file) => file.startsWith(`test/e2e/plugins/${name}/`));
    const program = sources.filter((file) => /\.[jt]s$/.test(file));
    expect(program.length).toBeGreaterThan(1);
    expect(program.reduce((sum, file) => sum + read(file).trimEnd().split('\n').length, 0)).toBeLessThanOrEqual(lines);
  });

  it('is needed: without it the model type is unknown, and the hint says how to get one', async () => {
    const { stdout, stderr, exitCode } = await installed.kvad('run', '--model', packed.fixture, '--prompt', 'x');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toMatch(/KVAD_E_ARCH_UNKNOWN/);
    expect(stderr).toMatch(/hint: .*kvad arch add/);
  });

  it('is installed by one command, from its tarball, and listed with its origin', async () => {
    const added = await installed.kvad('arch', 'add', packed.tarball);
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
    expect(added.stdout).toContain(`added ${name} 1.0.0: ${modelType}`);
    const { plugins } = JSON.parse((await installed.kvad('arch', 'list', '--json')).stdout) as { plugins: unknown[] };
    expect(plugins).toContainEqual(expect.objectContaining({ name, origin: 'user', model_types: [modelType] }));
  });

  it('computes what the published implementation computes', async () => {
    const { stdout, exitCode } = await installed.kvad('arch', 'verify', packed.fixture, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ results: [{ family: modelType, greedy_equal: true, pass: true }] });
    expect(exitCode).toBe(0);
  });

  it('runs: kvad run continues as the reference does', async () => {
    const model = path.join(installed.folder, `${name}-model`);
    writeRunnableModel(packed.fixture, model);
    const { greedyIds, shortIds } = readReference(packed.fixture);
    const { stdout, stderr, exitCode } = await installed.kvad(
      ...['run', '--model', model, '--raw', '--prompt', [...shortIds].map((id) => WORD + id).join(' '), '--greedy'],
      ...['--max-tokens', String(greedyIds.length), '--quant', 'f32', '--kv-cache-dtype', 'f32'],
    );
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout.trim().split(' ')).toEqual([...greedyIds].map((id) => WORD + id));
  });

  it('is held to the conformance kit by a test file of under 20 lines, with no runner but that of Node', async () => {
    const file = path.join(packed.folder, 'test/conformance.test.js');
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(20);
    const { stdout, exitCode } = await installed.node('--test', '--test-reporter=tap', file);
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/# pass 1[0-9]\n/);
  });

  it('is removed by its name, and its type is unknown again', async () => {
    expect(await installed.kvad('arch', 'remove', name)).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout, exitCode } = await installed.kvad('arch', 'verify', packed.fixture, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ results: [{ error: { code: 'KVAD_E_ARCH_UNKNOWN' } }] });
    expect(exitCode).toBe(1);
  });

  it('works with a copy of @kvad/core of its own, in the place of which it gets the host’s', async () => {
    const own = path.join(packed.folder, 'node_modules/@kvad/core');
    cpSync(path.join(installed.folder, 'node_modules/@kvad/core'), own, { recursive: true });
    const { stdout, exitCode } = await installed.kvad('arch', 'verify', packed.fixture, '--plugin', packed.folder);
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/1 of 1 passed/) as string,
    });
  });
});

/** Blocks of a page with their language, the file that they are, and their text. */
const blocksOf = (page: string): { language: string; file: string; text: string }[] =>
  [...page.matchAll(/^```(\w+) ?([\w./-]*)\n([\s\S]*?)^```$/gm)].map(([, language = '', file = '', text = '']) => ({
    language,
    file,
    text,
  }));

/** The packages are not published yet: what this would install lies in the folder above. */
const isInstall = (line: string): boolean => /^npm (init|install)\b/.test(line);

describe('docs/writing-a-plugin.md, from top to bottom', { timeout: 10 * MINUTES }, () => {
  const blocks = blocksOf(read('docs/writing-a-plugin.md'));

  it('runs: each command succeeds, each file is one that was scaffolded and still passes', async () => {
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['sh', 'ts', 'js']));
    linkCompiler(installed.folder);
    const ran: string[] = [];
    let cwd = installed.folder;
    for (const { language, file, text } of blocks) {
      if (language !== 'sh') {
        expect(existsSync(path.join(cwd, file)), `${file} in ${cwd}`).toBe(true);
        writeFileSync(path.join(cwd, file), text);
        continue;
      }
      for (const line of text
        .trim()
        .split('\n')
        .filter((one) => !isInstall(one))) {
        if (line.startsWith('cd ')) {
          cwd = path.resolve(cwd, line.slice(3));
          continue;
        }
        const { stdout, stderr, exitCode } = await installed.shell(line, cwd);
        expect(exitCode, `${line}\n${stdout}\n${stderr}`).toBe(0);
        ran.push(line);
      }
    }
    expect(ran.filter((line) => line === 'npm test').length).toBe(4);
    expect(ran.filter((line) => line.startsWith('npx kvad arch')).length).toBeGreaterThan(8);
  });

  it('begins with the source of a family that is there', async () => {
    linkCompiler(installed.folder);
    const made = await installed.kvad('arch', 'new', 'kvad-arch-similar', '--like', 'qwen2_moe');
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout, exitCode } = await installed.shell('npm test', path.join(installed.folder, 'kvad-arch-similar'));
    expect(exitCode, stdout).toBe(0);
  });
});

/** What `npm install typescript` gives. */
function linkCompiler(folder: string): void {
  const modules = path.join(folder, 'node_modules');
  if (existsSync(path.join(modules, 'typescript'))) return;
  symlinkSync(at('node_modules/typescript'), path.join(modules, 'typescript'));
  symlinkSync('../typescript/bin/tsc', path.join(modules, '.bin/tsc'));
}

const WORD = 'w';

/** A fixture with a tokenizer beside it, whose words are its ids: `w17` is 17. */
function writeRunnableModel(fixture: string, target: string): void {
  cpSync(fixtureDirectory(fixture), target, { recursive: true });
  const { vocabSize } = readReference(fixture);
  const vocab = Object.fromEntries(Array.from({ length: vocabSize }, (_, id) => [WORD + id, id]));
  const tokenizer = {
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab, unk_token: `${WORD}0` },
  };
  writeFileSync(path.join(target, 'tokenizer.json'), JSON.stringify(tokenizer));
  // The ends of the fixture's config would stop the answer; its reference goes on.
  rmSync(path.join(target, 'generation_config.json'), { force: true });
}
