import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from './read-input.js';

/**
 * A safetensors file of `input_ids` I64 [n] and `logits` F32 [n, vocab] that is written while the logits are made,
 * so that they need not fit in memory. It appears under its name when it is complete.
 */
export class LogitsFile {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #temporary: string;

  private constructor(file: string, temporary: string, handle: FileHandle) {
    this.#file = file;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  /** Throws KVAD_E_FILE. */
  static async create(
    file: string,
    ids: readonly number[],
    vocabSize: number,
    metadata: Readonly<Record<string, string>>,
  ): Promise<LogitsFile> {
    const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.partial`);
    return writing(file, async () => {
      const handle = await open(temporary, 'w');
      const made = new LogitsFile(file, temporary, handle);
      await handle.writeFile(header(ids.length, vocabSize, metadata));
      await handle.writeFile(new Uint8Array(BigInt64Array.from(ids, BigInt).buffer));
      return made;
    });
  }

  /** The next rows, row-major. Throws KVAD_E_FILE. */
  append(rows: Float32Array): Promise<void> {
    return writing(this.#file, () =>
      this.#handle.writeFile(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength)),
    );
  }

  async finish(): Promise<void> {
    await writing(this.#file, async () => {
      await this.#handle.close();
      await rename(this.#temporary, this.#file);
    });
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.#temporary, { force: true });
  }
}

/** Length of the JSON, the JSON padded to 8 bytes; then the data in the order of its offsets. */
const header = (tokens: number, vocabSize: number, metadata: Readonly<Record<string, string>>): Uint8Array => {
  const idBytes = tokens * 8;
  const json = JSON.stringify({
    __metadata__: metadata,
    input_ids: { dtype: 'I64', shape: [tokens], data_offsets: [0, idBytes] },
    logits: { dtype: 'F32', shape: [tokens, vocabSize], data_offsets: [idBytes, idBytes + tokens * vocabSize * 4] },
  });
  const length = Math.ceil(Buffer.byteLength(json) / 8) * 8;
  const bytes = Buffer.alloc(8 + length, ' ');
  bytes.writeBigUInt64LE(BigInt(length), 0);
  bytes.write(json, 8);
  return bytes;
};

const writing = async <T>(file: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (cause) {
    throw fileError('write', file, cause);
  }
};
