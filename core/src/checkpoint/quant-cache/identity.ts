import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { PlannedSlot } from '../../plan/planned-slot.js';
import type { BoundWeights, Checkpoint } from '../checkpoint.js';
import type { QuantIdentity, QuantSource } from './layout.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What a cache of this model must have been made from. */
export const identityOf = (
  checkpoint: Checkpoint,
  slots: readonly PlannedSlot[],
  weights: BoundWeights,
  { precision, layout }: { readonly precision: 'q8' | 'q4'; readonly layout: number },
): QuantIdentity => {
  const bindings = slots.map(({ name, shape, role }) => [name, shape, role, weights.sourceOf(name)]);
  return { precision, layout, bindings: sha256(JSON.stringify(bindings)), sources: checkpoint.files.map(sourceOf) };
};

export const sourceOf = (file: string): QuantSource => {
  const { size, mtimeMs } = statSync(file);
  const blob = blobOf(file);
  return { file: path.basename(file), size, id: blob === null ? `modified:${mtimeMs}` : `sha256:${blob}` };
};

/** The hash of a file that links into the `blobs` of a Hugging Face cache; its name there is its content's. */
const blobOf = (file: string): string | null => {
  const real = realpathSync(file);
  const name = path.basename(real);
  return path.basename(path.dirname(real)) === 'blobs' && /^[0-9a-f]{64}$/.test(name) ? name : null;
};

/** `$XDG_CACHE_HOME/kvad/quant`, or `~/.cache/kvad/quant`. */
export const quantCacheFolder = (env: NodeJS.ProcessEnv = process.env): string => {
  const home = env['XDG_CACHE_HOME'];
  const base = home !== undefined && path.isAbsolute(home) ? home : path.join(homedir(), '.cache');
  return path.join(base, 'kvad', 'quant');
};

/**
 * The name of a model's cache: `owner--name@revision.q8.kvq` for a snapshot of the Hugging Face cache, else
 * `local--folder-hash.q8.kvq` with a hash of the folder's path.
 */
export const quantCacheName = (directory: string, precision: 'q8' | 'q4'): string => {
  const real = realpathSync(directory);
  const snapshot = /models--([^/\\]+)[/\\]snapshots[/\\]([^/\\]+)$/.exec(real);
  const name =
    snapshot === null
      ? `local--${path.basename(real).replace(/[^\w.-]/g, '_')}-${sha256(real).slice(0, 12)}`
      : `${snapshot[1]!}@${snapshot[2]!.slice(0, 12)}`;
  return `${name}.${precision}.kvq`;
};
