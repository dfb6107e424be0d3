import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

/**
 * A chat as a person has it, in a pseudo-terminal, which `script` of util-linux makes. The reference arithmetic is slow
 * enough that an answer can be interrupted in its middle.
 */
const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
const KVAD = path.resolve(import.meta.dirname, '../../cli/bin/kvad.js');
const LIMIT = 60_000;

const folder = mkdtempSync(path.join(tmpdir(), 'kvad-chat-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

class Terminal {
  readonly #child: ChildProcessWithoutNullStreams;
  #seen = '';
  #read = 0;
  #wake: () => void = () => undefined;
  readonly #exit: Promise<number | null>;

  constructor(words: readonly string[], env: Readonly<Record<string, string>>) {
    const command = ['stty cols 100 rows 40;', 'exec', process.execPath, KVAD, ...words].join(' ');
    this.#child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: folder,
      env: { ...process.env, XDG_DATA_HOME: folder, TERM: 'xterm', ...env },
    });
    this.#child.stdout.on('data', (data: Buffer) => {
      this.#seen += data.toString();
      this.#wake();
    });
    this.#exit = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** What came since the last wait, up to and with the pattern. */
  async until(pattern: RegExp): Promise<string> {
    const end = Date.now() + LIMIT;
    for (;;) {
      const rest = plain(this.#seen).slice(this.#read);
      const found = pattern.exec(rest);
      if (found) {
        const text = rest.slice(0, found.index + found[0].length);
        this.#read += text.length;
        return text;
      }
      if (Date.now() > end) throw new Error(`${pattern} did not come; the screen: ${plain(this.#seen).slice(-2000)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 1000);
      });
    }
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  exit(): Promise<number | null> {
    return this.#exit;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Without what moves the cursor and colours. */

const plain = (text: string): string => text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '');

interface Saved {
  readonly object: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}
const savedAs = (name: string): Saved => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Saved;

const PROMPT = /> $/;
const DONE = /\[\d+ tok, [\d.]+ tok\/s, \d+ reused[^\]]*\]/;

describe.skipIf(!hasScript)(`kvad chat in a terminal${hasScript ? '' : ' (needs script of util-linux)'}`, () => {
  it('three turns, an interruption, an answer made again, saved, forgotten, loaded, and the end', async () => {
    const terminal = new Terminal(['chat', '--seed', '7', '--max-tokens', '120'], { KVAD_CPU: 'reference' });
    try {
      await terminal.until(/\/help lists the commands/);
      await terminal.until(PROMPT);

      terminal.type('Who are you?\r');
      expect(await terminal.until(DONE)).toMatch(/, 0 reused/);
      await terminal.until(PROMPT);

      terminal.type('Tell me a story about a fox and a lantern\r');
      await terminal.until(/lantern\n+[A-Z][a-z]+ [a-z]+ /);
      terminal.type('\x03');
      const stopped = await terminal.until(DONE);
      expect(stopped).toContain('interrupted');
      expect(stopped).not.toMatch(/, 0 reused/);
      await terminal.until(PROMPT);

      terminal.type('/regen\r');
      expect(await terminal.until(DONE)).not.toContain('interrupted');
      await terminal.until(PROMPT);

      terminal.type('"""\rWhat is the\rfox called?\r"""\r');
      await terminal.until(DONE);
      await terminal.until(PROMPT);

      terminal.type('/save talk.json\r');
      await terminal.until(/saved to .*talk\.json/);
      terminal.type('/reset\r');
      await terminal.until(/forgotten/);
      terminal.type('/regen\r');
      await terminal.until(/nothing to answer again/);
      terminal.type('/load talk.json\r');
      await terminal.until(/6 messages loaded/);
      terminal.type('/stats\r');
      await terminal.until(/4 answers/);
      terminal.type('/quit\r');
      expect(await terminal.exit()).toBe(0);
    } finally {
      terminal.kill();
    }
    const { object, messages } = savedAs('talk.json');
    expect(object).toBe('kvad.conversation');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
    expect(messages[4]?.content).toBe('What is the\nfox called?');
    const history = path.join(folder, 'kvad', 'chat-history');
    expect(readFileSync(history, 'utf8').split('\n')).toEqual(
      expect.arrayContaining(['Who are you?', '/save talk.json']),
    );
    expect(statSync(history).mode & 0o077).toBe(0);
  }, 300_000);

  it('remembers lines, clears one at Ctrl-C, and leaves at the second Ctrl-C', async () => {
    const home = path.join(folder, 'home');
    mkdirSync(path.join(home, 'kvad'), { recursive: true });
    writeFileSync(path.join(home, 'kvad', 'chat-history'), 'Who are you?\n');
    const terminal = new Terminal(['chat', '--max-tokens', '4'], { XDG_DATA_HOME: home });
    try {
      await terminal.until(PROMPT);
      terminal.type('half a line');
      await terminal.until(/half a line/);
      terminal.type('\x03');
      await terminal.until(PROMPT);
      terminal.type('\x1b[A\r');
      expect(await terminal.until(DONE)).toContain('Who are you?');
      await terminal.until(PROMPT);
      terminal.type('\x03');
      await terminal.until(/Once more to leave/);
      terminal.type('\x03');
      expect(await terminal.exit()).toBe(0);
    } finally {
      terminal.kill();
    }
  }, 120_000);
});
