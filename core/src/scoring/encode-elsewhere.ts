import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { littleEndianInt32 } from './int32-bytes.js';
import type { TextInput } from './types.js';

const SCRIPT = fileURLToPath(new URL('./encode-process.js', import.meta.url));

/** What the process is told as its argument; a text that is no file follows on stdin. */
export interface EncodeOrder {
  readonly directory: string;
  /** null: stdin. */
  readonly file: string | null;
  readonly parseSpecial: boolean;
}

/**
 * Ids of a long text, encoded by another process: the tokenizers library takes hundreds of bytes for each token, which this
 * process would keep for its whole run. null where no answer came: then the text is encoded here, which costs memory
 * only, and what is wrong is thrown here. Throws the signal's reason.
 */
export const encodeElsewhere = async (
  directory: string,
  input: TextInput,
  signal: AbortSignal,
): Promise<Int32Array | null> => {
  signal.throwIfAborted();
  const file = 'file' in input ? input.file : null;
  const order: EncodeOrder = { directory, file, parseSpecial: input.parseSpecial ?? false };
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, NODE_OPTIONS: '' },
    windowsHide: true,
  });
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A process that has ended early reads no more: its exit code says so.
    child.stdin.on('error', () => undefined);
    child.stdin.end('text' in input ? input.text : '');
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => {
        resolve(null);
      });
      child.on('close', resolve);
    });
    signal.throwIfAborted();
    return code === 0 ? littleEndianInt32(chunks) : null;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
