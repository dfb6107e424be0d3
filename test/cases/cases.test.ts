import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { schemaCompiler } from '@kvad/core';
import { schema } from '@kvad/schemas';
import { describe, expect, it } from 'vitest';

/**
 * A folder a case: `case.json` says what is typed there and what must come back. `expected.stdout` and
 * `expected.stderr` are lists of texts that must occur, or of `/patterns/`; an empty list: nothing may come.
 */
interface Case {
  readonly about: string;
  readonly command: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly expected: {
    readonly exit: number;
    readonly stdout?: readonly string[];
    readonly stderr?: readonly string[];
    /** stdout is JSON of this schema; stderr's last line, where the exit code is not 0 and stdout is empty. */
    readonly schema?: string;
  };
}

interface Outcome {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const kvad = path.resolve(import.meta.dirname, '../../cli/bin/kvad.js');
const cases = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(path.join(import.meta.dirname, name, 'case.json')),
);

const ajv = schemaCompiler({ validateSchema: true });
ajv.addSchema(schema('model-plan'));

const play = (folder: string, { command, stdin, env }: Case): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [kvad, ...command], { cwd: folder, env: { ...process.env, ...env } });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject).on('close', (exit) => resolve({ exit, stdout, stderr }));
    child.stdin.end(stdin ?? '');
  });

const expectText = (text: string, wanted: readonly string[] | undefined): void => {
  if (wanted?.length === 0) expect(text).toBe('');
  for (const one of wanted ?? []) {
    const pattern = /^\/(.*)\/(m?)$/s.exec(one);
    if (pattern) expect(text).toMatch(new RegExp(pattern[1] ?? '', pattern[2]));
    else expect(text).toContain(one);
  }
};

const expectSchema = (name: string, json: string): void => {
  const validate = ajv.getSchema(`https://kvad.dev/schemas/${name}.schema.json`) ?? ajv.compile(schema(name));
  const valid = validate(JSON.parse(json));
  expect(validate.errors ?? []).toEqual([]);
  expect(valid).toBe(true);
};

describe('cases', () => {
  it.each(cases.map((name) => [name]))('%s', async (name) => {
    const folder = path.join(import.meta.dirname, name);
    const given = JSON.parse(readFileSync(path.join(folder, 'case.json'), 'utf8')) as Case;
    const outcome = await play(folder, given);
    const { exit } = given.expected;
    expect({ exit: outcome.exit, stderr: outcome.exit === exit ? '' : outcome.stderr }, given.about).toEqual({
      exit,
      stderr: '',
    });
    expectText(outcome.stdout, given.expected.stdout);
    expectText(outcome.stderr, given.expected.stderr);
    if (given.expected.schema !== undefined) {
      expectSchema(given.expected.schema, outcome.stdout || (outcome.stderr.trimEnd().split('\n').at(-1) ?? ''));
    }
  });
});
