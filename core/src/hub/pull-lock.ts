import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cacheName } from './model-id.js';

/** An owner on another machine that has not touched its lock for so long is gone. */
const STALE_AFTER = 60_000;
const TOUCH_EVERY = 10_000;
const LOOK_EVERY = 100;

/**
 * Runs `work` while no other kvad downloads the same model into this cache. The lock is a file in `.locks`, beside those
 * of Python; it holds process and host, so that one whose process ended is taken over. `onWait` is told once.
 */
export const withPullLock = async <T>(
  cache: string,
  id: string,
  { signal, onWait }: { signal?: AbortSignal | undefined; onWait?: ((process: number) => void) | undefined },
  work: () => Promise<T>,
): Promise<T> => {
  const folder = path.join(cache, '.locks', cacheName(id));
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'kvad-pull.lock');
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), key: randomBytes(8).toString('hex') });
  let told = false;
  while (!take(file, mine)) {
    signal?.throwIfAborted();
    const holder = read(file);
    if (holder !== null && isGone(file, holder)) {
      discard(file, holder);
      continue;
    }
    if (!told && holder !== null) onWait?.(pidOf(holder).pid);
    told = true;
    await delay(LOOK_EVERY, undefined, signal === undefined ? {} : { signal });
  }
  const touching = setInterval(() => touch(file), TOUCH_EVERY).unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    if (read(file) === mine) rmSync(file, { force: true });
  }
};

/** Creates the lock with its content at once: a link either appears whole or fails. */
const take = (file: string, content: string): boolean => {
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  writeFileSync(temporary, content);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A disk without links: an exclusive write has to do.
    return writeExclusively(file, content);
  } finally {
    rmSync(temporary, { force: true });
  }
};

const writeExclusively = (file: string, content: string): boolean => {
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // released in this moment
  }
};

const pidOf = (content: string): { pid: number; host: string } => {
  try {
    const { pid, host } = JSON.parse(content) as { pid?: unknown; host?: unknown };
    return { pid: typeof pid === 'number' ? pid : 0, host: typeof host === 'string' ? host : '' };
  } catch {
    return { pid: 0, host: '' }; // half a lock: judged by its age
  }
};

const isGone = (file: string, content: string): boolean => {
  const { pid, host } = pidOf(content);
  if (host === hostname() && pid > 0) return !isRunning(pid);
  const touched = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - touched > STALE_AFTER;
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Removes a lock of a process that ended; one that somebody took meanwhile is put back. */
const discard = (file: string, content: string): void => {
  const aside = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another one was faster
  }
  if (read(aside) !== content) take(file, read(aside) ?? '');
  rmSync(aside, { force: true });
};

const touch = (file: string): void => {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // The lock was removed by hand: nothing is left to be touched, and the checksums still hold.
  }
};
