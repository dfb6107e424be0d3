import { randomInt } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { WeightData } from '../../kernels/tensor.js';
import { ALIGNMENT, MAGIC, PREFIX_BYTES, type QuantEntry, type QuantHeader, type QuantIdentity } from './layout.js';

const MOST_AT_ONCE = 2 ** 30;

/**
 * Writes a cache while a model is quantised. Nothing of the final name exists before `finish`; a process that dies
 * leaves a temporary file, and several may write at once: the last one to finish is kept, and each is whole.
 * A failure (no space, no permission) abandons the cache, never the load: `failure` says why.
 * The number of the process does not make a name: containers that share the folder give all of theirs the same one.
 */
export class QuantCacheWriter {
  failure: string | null = null;
  readonly #file: string;
  readonly #temporary: string;
  readonly #identity: QuantIdentity;
  readonly #directory: string;
  readonly #entries: Record<string, QuantEntry> = {};
  #descriptor: number | null = null;
  #end = PREFIX_BYTES;

  constructor(file: string, identity: QuantIdentity, directory: string) {
    this.#file = file;
    this.#temporary = `${file}.${process.pid}-${randomInt(2 ** 47)}.tmp`;
    this.#identity = identity;
    this.#directory = directory;
    this.#attempt(() => {
      mkdirSync(path.dirname(file), { recursive: true });
      this.#descriptor = openSync(this.#temporary, 'wx');
    });
  }

  add(key: string, { dtype, shape, bytes }: WeightData): void {
    const precision = dtype === 'Q8' ? 'q8' : 'q4';
    this.#attempt((descriptor) => {
      writeAll(descriptor, bytes, this.#end);
      this.#entries[key] = { shape, precision, offset: this.#end, length: bytes.byteLength };
      this.#end = Math.ceil((this.#end + bytes.byteLength) / ALIGNMENT) * ALIGNMENT;
    });
  }

  /** Makes the file complete and gives it its name. */
  finish(): void {
    this.#attempt((descriptor) => {
      const held: QuantHeader = { identity: this.#identity, directory: this.#directory, entries: this.#entries };
      const header = new TextEncoder().encode(JSON.stringify(held));
      writeAll(descriptor, header, this.#end);
      const prefix = new Uint8Array(PREFIX_BYTES);
      prefix.set(MAGIC);
      const view = new DataView(prefix.buffer);
      view.setBigUint64(8, BigInt(this.#end), true);
      view.setBigUint64(16, BigInt(header.byteLength), true);
      writeAll(descriptor, prefix, 0);
      fsyncSync(descriptor);
      renameSync(this.#temporary, this.#file);
      closeSync(descriptor);
      this.#descriptor = null;
    });
  }

  /** Leaves no file behind. */
  abandon(): void {
    if (this.#descriptor === null) return;
    closeSync(this.#descriptor);
    this.#descriptor = null;
    rmSync(this.#temporary, { force: true });
  }

  #attempt(act: (descriptor: number) => void): void {
    if (this.failure !== null) return;
    try {
      act(this.#descriptor ?? -1);
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      this.abandon();
    }
  }
}

const writeAll = (descriptor: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.byteLength;) {
    const count = Math.min(MOST_AT_ONCE, bytes.byteLength - done);
    done += writeSync(descriptor, bytes, done, count, position + done);
  }
};
