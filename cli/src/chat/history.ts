import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const SIZE = 1000;

/** The file that keeps what was typed. */
export const historyFile = (env: Readonly<Record<string, string | undefined>>): string =>
  path.join(env['XDG_DATA_HOME'] || path.join(homedir(), '.local', 'share'), 'kvad', 'chat-history');

/** Lines typed in chats, over all of them; only the user may read the file. */
export class ChatHistory {
  readonly size = SIZE;
  readonly newestFirst: readonly string[];
  readonly #file: string;
  readonly #onTrouble: (reason: string) => void;
  #broken = false;

  /** `onTrouble` is told once why lines are not kept. */
  constructor(file: string, onTrouble: (reason: string) => void) {
    this.#file = file;
    this.#onTrouble = onTrouble;
    const lines = this.#read();
    if (lines.length > 2 * SIZE) this.#write(() => writeFileSync(file, joined(lines.slice(-SIZE)), { mode: 0o600 }));
    this.newestFirst = lines.slice(-SIZE).reverse();
  }

  /** Appended at once: several chats may go on beside each other. */
  add(line: string): void {
    this.#write(() => {
      mkdirSync(path.dirname(this.#file), { recursive: true });
      appendFileSync(this.#file, `${line}\n`, { mode: 0o600 });
    });
  }

  #read(): string[] {
    try {
      return readFileSync(this.#file, 'utf8').split('\n').filter(Boolean);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#trouble(error);
      return [];
    }
  }

  #write(action: () => void): void {
    if (this.#broken) return;
    try {
      action();
    } catch (error) {
      this.#trouble(error);
    }
  }

  #trouble(error: unknown): void {
    if (!this.#broken) this.#onTrouble((error as Error).message);
    this.#broken = true;
  }
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
