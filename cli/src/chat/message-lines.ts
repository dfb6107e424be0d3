const FENCE = '"""';

/**
 * Lines as they are typed -> messages. A line that ends in a backslash goes on in the next one; lines between two lines
 * of `"""` are one message, as are lines that were pasted.
 */
export class MessageLines {
  #lines: string[] = [];
  #fenced = false;

  /** Whether a message has begun that is not whole yet. */
  get open(): boolean {
    return this.#fenced || this.#lines.length > 0;
  }

  /** The message that the line completes; null: it goes on. */
  push(line: string, { pasting = false }: { readonly pasting?: boolean } = {}): string | null {
    if (this.#fenced) {
      if (!line.endsWith(FENCE)) return this.#keep(line);
      const rest = line.slice(0, -FENCE.length);
      if (rest !== '') this.#lines.push(rest);
      return this.#whole();
    }
    if (this.#lines.length === 0 && line.startsWith(FENCE)) {
      const rest = line.slice(FENCE.length);
      if (rest.endsWith(FENCE)) return rest.slice(0, -FENCE.length);
      this.#fenced = true;
      return rest === '' ? null : this.#keep(rest);
    }
    if (pasting) return this.#keep(line);
    if (line.endsWith('\\')) return this.#keep(line.slice(0, -1));
    this.#lines.push(line);
    return this.#whole();
  }

  /** Forgets what has begun. */
  clear(): void {
    this.#lines = [];
    this.#fenced = false;
  }

  /** What has begun, where nothing follows any more; null: nothing has. */
  end(): string | null {
    return this.open ? this.#whole() : null;
  }

  #keep(line: string): null {
    this.#lines.push(line);
    return null;
  }

  #whole(): string {
    const text = this.#lines.join('\n');
    this.clear();
    return text;
  }
}
