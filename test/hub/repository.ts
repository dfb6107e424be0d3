import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A file as the Hub keeps it. */
export interface HeldFile {
  readonly path: string;
  readonly bytes: Buffer;
  /** Git's sha1 of the content, or of the pointer where the content lies in LFS. */
  readonly oid: string;
  /** sha256 of the content; null: the file lies in Git itself. */
  readonly lfs: string | null;
}

/** A model of the local Hub. */
export interface HeldModel {
  readonly id: string;
  /** Commit -> its files by path. */
  readonly commits: Map<string, ReadonlyMap<string, HeldFile>>;
  /** Branches and tags -> commit. */
  readonly refs: Map<string, string>;
  gated: false | 'auto' | 'manual';
  private: boolean;
  downloads: number;
  /** Whom a gate lets in: tokens. */
  readonly allowed: Set<string>;
  /** Sizes that the list of files tells in place of the true ones. */
  readonly claims: Readonly<Record<string, number>>;
}

/** Contents by path, for tests that need no checkpoint. */
export type Contents = Readonly<Record<string, string | Buffer>>;

/** Weights and other large files lie in LFS, as on the Hub. */
const LFS = /\.(safetensors|bin|gguf|onnx|model)$/;

/** The files of a folder as a commit. Its name is a hash of what it holds, so that it differs when the content does. */
export const commitOf = (contents: Contents): { commit: string; files: ReadonlyMap<string, HeldFile> } => {
  const files = new Map(
    Object.entries(contents)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, content]) => [name, heldFile(name, Buffer.from(content))]),
  );
  const hash = createHash('sha1');
  for (const { path: name, oid } of files.values()) hash.update(`${name} ${oid}\n`);
  return { commit: hash.digest('hex'), files };
};

/** All files below a folder, references of tests left out. */
export const folderContents = (folder: string): Contents =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/^(reference\.|weights\.recipe)/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(folder, file).replaceAll(path.sep, '/'), readFileSync(file)]),
  );

export const gitSha1 = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

const heldFile = (name: string, bytes: Buffer): HeldFile => {
  if (!LFS.test(name)) return { path: name, bytes, oid: gitSha1(bytes), lfs: null };
  const lfs = createHash('sha256').update(bytes).digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${lfs}\nsize ${bytes.length}\n`;
  return { path: name, bytes, oid: gitSha1(Buffer.from(pointer)), lfs };
};
