import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import type { BaseFormat } from './base.js';
import type { Row } from './divergence.js';
import { scoringFileError } from './file-error.js';

/**
 * Writes a base row by row into `FILE.partial`, which takes its name when it is complete. No more than a row is held.
 */
export class BaseWriter {
  readonly #file: string;
  readonly #partial: string;
  readonly #format: BaseFormat;
  readonly #row: Buffer;
  readonly #fd: number;

  private constructor(file: string, format: BaseFormat, fd: number) {
    this.#file = file;
    this.#partial = partialOf(file);
    this.#format = format;
    this.#row = Buffer.alloc(format.rowBytes);
    this.#fd = fd;
  }

  /** An existing base is replaced only with `force`. Throws KVAD_E_KLD_BASE_EXISTS, KVAD_E_FILE. */
  static create(file: string, format: BaseFormat, { force }: { force: boolean }): BaseWriter {
    refuseExisting(file, force);
    return writing(file, () => {
      const writer = new BaseWriter(file, format, openSync(partialOf(file), 'w'));
      writeAll(writer.#fd, format.header, 0);
      return writer;
    });
  }

  /** Goes on with a partial file of the same header; null: there is none. */
  static reopen(file: string, format: BaseFormat, { force }: { force: boolean }): BaseWriter | null {
    refuseExisting(file, force);
    if (!existsSync(partialOf(file))) return null;
    return writing(file, () => {
      const fd = openSync(partialOf(file), 'r+');
      const found = Buffer.alloc(format.header.length);
      readSync(fd, found, 0, found.length, 0);
      if (found.equals(format.header)) return new BaseWriter(file, format, fd);
      closeSync(fd);
      return null;
    });
  }

  /** Whole rows in the file. */
  get rows(): number {
    const { header, rowBytes } = this.#format;
    return Math.max(0, Math.floor((fstatSync(this.#fd).size - header.length) / rowBytes));
  }

  write(index: number, row: Row, target: number): void {
    this.#format.encode(row, target, this.#row);
    writing(this.#file, () => {
      writeAll(this.#fd, this.#row, this.#position(index));
    });
  }

  /** Cuts off what lies behind its last row and gives the file its name. */
  finish(rows: number): void {
    writing(this.#file, () => {
      ftruncateSync(this.#fd, this.#position(rows));
      closeSync(this.#fd);
      renameSync(this.#partial, this.#file);
    });
  }

  close(): void {
    closeSync(this.#fd);
  }

  discard(): void {
    this.close();
    rmSync(this.#partial, { force: true });
  }

  #position(index: number): number {
    return this.#format.header.length + index * this.#format.rowBytes;
  }
}

const partialOf = (file: string): string => `${file}.partial`;

const refuseExisting = (file: string, force: boolean): void => {
  if (!force && existsSync(file)) throw new KvadError('KVAD_E_KLD_BASE_EXISTS', { file });
};

const writeAll = (fd: number, bytes: Buffer, position: number): void => {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
};

const writing = <T>(file: string, act: () => T): T => {
  try {
    return act();
  } catch (cause) {
    throw scoringFileError('write', file, cause);
  }
};
