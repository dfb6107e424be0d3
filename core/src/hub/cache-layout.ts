import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { cacheName, isCommit } from './model-id.js';

/**
 * The folder of one model in the cache, as Python's huggingface_hub lays it out:
 *   models--owner--name/refs/<revision>            text: a commit
 *                       blobs/<hash>               contents, named by sha256 (LFS) or Git's sha1
 *                       snapshots/<commit>/<path>  relative links into blobs; where links are impossible, files
 *                       .no_exist/                 files that Python knows not to exist; left alone
 */
export class CachedRepo {
  readonly id: string;
  readonly folder: string;

  constructor(cache: string, id: string) {
    this.id = id;
    this.folder = path.join(cache, cacheName(id));
  }

  get blobs(): string {
    return path.join(this.folder, 'blobs');
  }

  get snapshots(): string {
    return path.join(this.folder, 'snapshots');
  }

  get refs(): string {
    return path.join(this.folder, 'refs');
  }

  blob(digits: string): string {
    return path.join(this.blobs, digits);
  }

  snapshot(commit: string): string {
    return path.join(this.snapshots, commit);
  }

  /** The commit that a branch or tag named when it was last fetched; null: it never was. */
  readRef(revision: string): string | null {
    const text = textOf(path.join(this.refs, ...revision.split('/')))?.trim() ?? null;
    return text !== null && isCommit(text) ? text : null;
  }

  writeRef(revision: string, commit: string): void {
    if (isCommit(revision) || this.readRef(revision) === commit) return;
    const file = path.join(this.refs, ...revision.split('/'));
    mkdirSync(path.dirname(file), { recursive: true });
    const temporary = fresh(file);
    writeFileSync(temporary, commit);
    renameSync(temporary, file);
  }

  /** Makes a file of a snapshot out of a blob: a link, or where links are impossible a copy. */
  async place(commit: string, file: string, digits: string, symlinks: boolean): Promise<void> {
    const target = path.join(this.snapshot(commit), ...file.split('/'));
    const blob = this.blob(digits);
    mkdirSync(path.dirname(target), { recursive: true });
    const link = path.relative(path.dirname(target), blob);
    if (symlinks && linkOf(target) === link) return;
    const temporary = fresh(target);
    if (symlinks && makeLink(link, temporary)) {
      await rename(temporary, target);
      return;
    }
    if (sameSize(blob, target)) return;
    try {
      await copyFile(blob, temporary);
      await rename(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

const fresh = (file: string): string => `${file}.${randomBytes(4).toString('hex')}.tmp`;

const linkOf = (file: string): string | null => {
  try {
    return readlinkSync(file);
  } catch {
    return null; // not there, or not a link: it is made anew
  }
};

/** False where the system or the disk has no links for this user. */
const makeLink = (link: string, file: string): boolean => {
  try {
    symlinkSync(link, file);
    return true;
  } catch (error) {
    if (['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return false;
    }
    throw error;
  }
};

const sameSize = (one: string, other: string): boolean =>
  statSync(other, { throwIfNoEntry: false })?.size === statSync(one).size;

const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // no such ref, or a folder of refs: there is none of this name
  }
};

/** Runs what writes into the cache; an error of the disk names the cache. Throws KVAD_E_HUB_CACHE. */
export const inCache = async <T>(folder: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
    const reason = code === undefined ? undefined : REASONS[code];
    if (reason === undefined) throw error;
    throw new KvadError('KVAD_E_HUB_CACHE', { folder, reason }, { cause: error });
  }
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  ENOENT: 'a part of it vanished',
  EISDIR: 'a folder stands where a file should be',
  EFBIG: 'the disk takes no file of this size',
};
