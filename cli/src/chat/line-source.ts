import readline from 'node:readline';
import { colorsFor } from '../io/colors.js';
import { writeLine, type Io } from '../io/io.js';
import type { ChatHistory } from './history.js';
import { MessageLines } from './message-lines.js';

/** Where messages come from. */
export interface LineSource {
  /** The next message or command; null: no more comes. */
  next(): Promise<string | null>;
  /** Runs what Ctrl-C may stop. */
  stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  close(): void;
}

/** Lines that are not typed: a pipe or a file. Ctrl-C ends it all. */
export const pipedLines = (io: Io): LineSource => {
  const lines = readline.createInterface({ input: io.stdin, terminal: false, crlfDelay: Infinity });
  const iterator = lines[Symbol.asyncIterator]();
  const messages = new MessageLines();
  const interrupted = new Promise<IteratorResult<string, undefined>>((resolve) => {
    const end = (): void => resolve({ done: true, value: undefined });
    if (io.interrupt.aborted) end();
    else io.interrupt.addEventListener('abort', end, { once: true });
  });
  return {
    next: async () => {
      for (;;) {
        const line = await Promise.race([interrupted, iterator.next()]);
        if (io.interrupt.aborted) return null;
        if (line.done === true) return messages.end();
        const message = messages.push(line.value);
        if (message !== null) return message;
      }
    },
    stoppable: (work) => work(io.interrupt),
    close: () => lines.close(),
  };
};

const PROMPT = '> ';
const CONTINUED = '… ';
/** What a terminal puts around pasted text while this is on. */
const BRACKETED_PASTE = { on: '\x1b[?2004h', off: '\x1b[?2004l' } as const;

/** A terminal, with editing and history. The prompt is drawn on stderr: stdout is for answers. */
export class TerminalLines implements LineSource {
  readonly #io: Io;
  readonly #history: ChatHistory;
  readonly #lines: readline.Interface;
  readonly #messages = new MessageLines();
  /** Messages that were typed while an answer was made. */
  readonly #typed: string[] = [];
  #waiting: ((message: string | null) => void) | null = null;
  #running: AbortController | null = null;
  #pasting = false;
  #warned = false;
  #closed = false;

  constructor(io: Io, history: ChatHistory) {
    this.#io = io;
    this.#history = history;
    this.#lines = readline.createInterface({
      ...{ input: io.stdin, output: io.stderr, terminal: true, crlfDelay: Infinity },
      ...{ history: [...history.newestFirst], historySize: history.size, removeHistoryDuplicates: true },
    });
    this.#lines
      .on('line', (line) => this.#line(line))
      .on('SIGINT', () => this.#interrupt())
      .on('close', () => this.#end());
    io.stdin.on('keypress', this.#onKey);
    io.interrupt.addEventListener('abort', this.#onAbort, { once: true });
    io.stderr.write(BRACKETED_PASTE.on);
  }

  next(): Promise<string | null> {
    const typed = this.#typed.shift();
    if (typed !== undefined) return Promise.resolve(typed);
    if (this.#closed) return Promise.resolve(null);
    this.#draw();
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  async stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = new AbortController();
    this.#running = running;
    if (this.#io.interrupt.aborted) running.abort();
    try {
      return await work(running.signal);
    } finally {
      this.#running = null;
    }
  }

  close(): void {
    this.#io.stdin.off('keypress', this.#onKey);
    this.#io.interrupt.removeEventListener('abort', this.#onAbort);
    if (this.#closed) return;
    this.#lines.close();
  }

  readonly #onKey = (_: unknown, key: { readonly name?: string } | undefined): void => {
    if (key?.name === 'paste-start') this.#pasting = true;
    if (key?.name === 'paste-end') this.#pasting = false;
  };

  readonly #onAbort = (): void => {
    this.#running?.abort();
    this.#lines.close();
  };

  #draw(): void {
    const { cyan } = colorsFor(this.#io, this.#io.stderr);
    this.#lines.setPrompt(cyan(this.#messages.open ? CONTINUED : PROMPT));
    this.#lines.prompt();
  }

  #line(line: string): void {
    this.#warned = false;
    if (line.trim() !== '') this.#history.add(line);
    const message = this.#messages.push(line, { pasting: this.#pasting });
    if (message === null) {
      if (this.#waiting !== null && !this.#pasting) this.#draw();
    } else if (this.#waiting === null) {
      this.#typed.push(message);
    } else {
      this.#give(message);
    }
  }

  #give(message: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(message);
  }

  /** Stops an answer; else clears what is typed; else leaves, if it was pressed just before. */
  #interrupt(): void {
    if (this.#running !== null) return this.#running.abort();
    if (this.#lines.line !== '' || this.#messages.open) {
      this.#messages.clear();
      this.#lines.write(null, { ctrl: true, name: 'e' });
      this.#lines.write(null, { ctrl: true, name: 'u' });
      this.#io.stderr.write('\n');
      return this.#draw();
    }
    if (this.#warned) return this.#lines.close();
    this.#warned = true;
    void writeLine(this.#io.stderr, '\nOnce more to leave; /help lists the commands.');
    this.#draw();
  }

  #end(): void {
    this.#closed = true;
    this.#io.stderr.write(`${BRACKETED_PASTE.off}\n`);
    this.#give(this.#messages.end());
  }
}
