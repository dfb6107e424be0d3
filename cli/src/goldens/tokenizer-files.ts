import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { TokenizerGolden } from './tokenizer-golden.js';

/** A tokenizer.json, or why there is none. */
export type FoundFile = { readonly text: string } | { readonly absent: string };

const run = promisify(execFile);
/** For a package of 20 MB on a slow line. */
const LIMIT_MILLISECONDS = 300_000;
/** What npm says where the registry cannot be reached at all, so that the next package need not be tried. */
const NO_NETWORK = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH/;

/** Finds the tokenizer.json of each golden of a folder: in it, in node_modules, among those fetched before, or with npm. */
export class TokenizerFiles {
  readonly #dir: string;
  readonly #fetch: boolean;
  /** Why npm cannot be asked again. */
  #unreachable: string | null = null;

  constructor(dir: string, { fetch }: { readonly fetch: boolean }) {
    this.#dir = dir;
    this.#fetch = fetch;
  }

  async of(golden: TokenizerGolden): Promise<FoundFile> {
    const { source } = golden;
    if (source.base !== undefined) return this.#patched(source.base, source.patch ?? {});
    if (source.file !== undefined) {
      const file = path.join(this.#dir, source.file);
      if (existsSync(file)) return checked(gunzipSync(readFileSync(file)), golden);
    }
    const { npm, version, path: inner } = source;
    if (npm === undefined || version === undefined || inner === undefined) return { absent: 'its file is not there' };
    const file = await this.#packaged(npm, version, inner);
    return 'absent' in file ? file : checked(readFileSync(file.file), golden);
  }

  async #patched(base: string, patch: Readonly<Record<string, unknown>>): Promise<FoundFile> {
    const golden = JSON.parse(readFileSync(path.join(this.#dir, `${base}.json`), 'utf8')) as TokenizerGolden;
    const found = await this.of(golden);
    if ('absent' in found) return { absent: `${base}: ${found.absent}` };
    return { text: JSON.stringify({ ...(JSON.parse(found.text) as object), ...patch }) };
  }

  async #packaged(npm: string, version: string, inner: string): Promise<{ file: string } | { absent: string }> {
    const name = `${npm}@${version}`;
    const installed = path.join('node_modules', npm);
    if (versionOf(installed) === version) return { file: path.join(installed, inner) };
    const kept = path.join(keptFolder(), name.replaceAll('/', '--'));
    if (!existsSync(kept)) {
      if (!this.#fetch) return { absent: `${name} is not there (it was not to be fetched)` };
      if (this.#unreachable !== null) return { absent: `${name} is not there: ${this.#unreachable}` };
      try {
        await fetchPackage(name, kept);
      } catch (error) {
        const reason = reasonOf(error);
        if (NO_NETWORK.test(reason)) this.#unreachable = reason;
        return { absent: `${name} is not there: ${reason}` };
      }
    }
    return { file: path.join(kept, 'package', inner) };
  }
}

/** The folder appears whole or not at all. */
const fetchPackage = async (name: string, kept: string): Promise<void> => {
  mkdirSync(path.dirname(kept), { recursive: true });
  const scratch = mkdtempSync(`${kept}.`);
  try {
    const options = { cwd: scratch, timeout: LIMIT_MILLISECONDS };
    const { stdout } = await run('npm', ['pack', name, '--json', '--fetch-retries=1'], options);
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    if (packed === undefined) throw new Error(`npm packed nothing for ${name}`);
    await run('tar', ['-xzf', packed.filename], options);
    rmSync(path.join(scratch, packed.filename));
    renameSync(scratch, kept);
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
};

const keptFolder = (): string =>
  path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'kvad', 'goldens');

const versionOf = (folder: string): string | null => {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) return null;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version ?? null;
};

/** Another file than the one that the expected values were made with proves nothing. */
const checked = (bytes: Buffer, { sha256 }: TokenizerGolden): FoundFile => {
  const hash = createHash('sha256').update(bytes).digest('hex');
  return hash === sha256
    ? { text: bytes.toString('utf8') }
    : { absent: `the file found is another one (SHA-256 ${hash}, expected ${sha256})` };
};

const reasonOf = (error: unknown): string => {
  const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean };
  if (killed === true) return `npm took more than ${LIMIT_MILLISECONDS / 1000} seconds`;
  const code = stderr.split('\n').find((line) => line.startsWith('npm error code'));
  return code ?? message.split('\n', 1)[0] ?? '';
};
