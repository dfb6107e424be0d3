import type { ChatMessage } from '@kvad/core';

/**
 * What was said, and how much of it the model still sees. A turn is a message of the user and what follows it until the
 * next one. The oldest turns may be left out of the prompt; they stay in what is saved.
 */
export class Conversation {
  system: string | null;
  #messages: ChatMessage[] = [];
  /** Messages before this one are left out of the prompt. */
  #from = 0;

  constructor(system: string | null = null) {
    this.system = system;
  }

  /** All of it, the system message first. */
  get messages(): ChatMessage[] {
    return [...this.#system(), ...this.#messages];
  }

  /** What the model sees. */
  get prompt(): ChatMessage[] {
    return [...this.#system(), ...this.#messages.slice(this.#from)];
  }

  /** Whether the last word is the user's. */
  get awaitsAnswer(): boolean {
    return this.#messages.at(-1)?.role === 'user';
  }

  say(text: string): void {
    this.#messages.push({ role: 'user', content: text });
  }

  answer(message: ChatMessage): void {
    this.#messages.push(message);
  }

  /** The last turn's message of the user, taken back because it cannot be answered. */
  takeBack(): void {
    if (this.awaitsAnswer) this.#messages.pop();
    this.#from = Math.min(this.#from, this.#messages.length);
  }

  /** Takes what follows the last message of the user away, so that it can be answered again; returns it. */
  takeAnswer(): ChatMessage[] | null {
    const last = this.#messages.findLastIndex(({ role }) => role === 'user');
    if (last < 0) return null;
    return this.#messages.splice(last + 1);
  }

  /** Puts back what `takeAnswer` gave. */
  putAnswer(messages: readonly ChatMessage[]): void {
    this.#messages.push(...messages);
  }

  /** Leaves the oldest turn that is still there out of the prompt, and returns it; null: only the last one is left. */
  leaveOut(): ChatMessage[] | null {
    const next = this.#messages.findIndex(({ role }, index) => index > this.#from && role === 'user');
    if (next < 0) return null;
    const left = this.#messages.slice(this.#from, next);
    this.#from = next;
    return left;
  }

  reset(): void {
    this.#messages = [];
    this.#from = 0;
  }

  /** Takes another conversation's place: its system message is the first one, if it has that role. */
  replace(messages: readonly ChatMessage[]): void {
    const [first] = messages;
    const system = first?.role === 'system' && typeof first.content === 'string' ? first.content : null;
    this.reset();
    this.system = system;
    this.#messages = [...(system === null ? messages : messages.slice(1))];
  }

  #system(): ChatMessage[] {
    return this.system === null ? [] : [{ role: 'system', content: this.system }];
  }
}
