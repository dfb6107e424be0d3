import { existsSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { KvadError, type ChatMessage } from '@kvad/core';
import { jsonText, type Io } from '../io/io.js';
import { readConversation } from '../io/read-conversation.js';
import { fileError } from '../io/read-input.js';

/**
 * Conversations as files: `{ object: "kvad.conversation", model, messages }`. A file that is there and was neither saved
 * nor loaded here is not written over.
 */
export class ConversationFiles {
  readonly #io: Io;
  readonly #own = new Set<string>();
  #last: string | null = null;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Returns the path; null: no name was given, now or before. Throws KVAD_E_FILE, KVAD_E_CHAT_FILE_EXISTS. */
  save(name: string, model: string, messages: readonly ChatMessage[]): string | null {
    const file = name === '' ? this.#last : path.resolve(this.#io.cwd, name);
    if (file === null) return null;
    if (existsSync(file) && !this.#own.has(file)) throw new KvadError('KVAD_E_CHAT_FILE_EXISTS', { file });
    const part = `${file}.${process.pid}.part`;
    try {
      writeFileSync(part, jsonText({ object: 'kvad.conversation', model, messages }));
      renameSync(part, file);
    } catch (cause) {
      throw fileError('write', file, cause);
    }
    return this.#remember(file);
  }

  /** Throws KVAD_E_FILE and KVAD_E_INPUT_*. */
  async load(name: string): Promise<readonly ChatMessage[]> {
    const { messages } = await readConversation(this.#io, path.resolve(this.#io.cwd, name));
    this.#remember(path.resolve(this.#io.cwd, name));
    return messages;
  }

  #remember(file: string): string {
    this.#own.add(file);
    this.#last = file;
    return file;
  }
}
