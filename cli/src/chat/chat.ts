import {
  KvadError,
  type ChatMessage,
  type GenerateEvent,
  type GenerateOptions,
  type LoadedModel,
  type Prompt,
  type Session,
} from '@kvad/core';
import { type Conversation } from './conversation.js';
import { keepsReasoningApart, splitReasoning } from './reasoning.js';

/** What a turn tells: the events of its generation, and before them what no longer fits. */
export type TurnEvent =
  | GenerateEvent
  | { readonly type: 'left-out'; readonly messages: readonly ChatMessage[]; readonly contextLength: number };

export type ChatModel = Pick<LoadedModel, 'facts' | 'render' | 'encode' | 'session'>;

/**
 * A conversation with a model. The session keeps the states of what was said, so that a turn computes what is new. A
 * model without a template continues the text of all turns.
 */
export class Chat {
  readonly conversation: Conversation;
  readonly #options: GenerateOptions & { readonly maxTokens: number; readonly seed: number };
  #model: ChatModel;
  #session: Session;
  /** How often the present turn has been answered before: each time with another seed. */
  #again = 0;
  #apart: boolean | null = null;

  private constructor(
    model: ChatModel,
    session: Session,
    conversation: Conversation,
    options: GenerateOptions & { readonly maxTokens: number; readonly seed: number },
  ) {
    this.#model = model;
    this.#session = session;
    this.conversation = conversation;
    this.#options = options;
  }

  static async open(
    model: ChatModel,
    conversation: Conversation,
    options: GenerateOptions & { readonly maxTokens: number; readonly seed: number },
  ): Promise<Chat> {
    return new Chat(model, await model.session(), conversation, options);
  }

  get isBase(): boolean {
    return this.#model.facts.text.template === null;
  }

  /** Tokens whose states are held. */
  get heldTokens(): number {
    return this.#session.tokens.length;
  }

  /** The same conversation with another model. */
  async move(model: ChatModel): Promise<void> {
    const session = await model.session();
    await this.#session.close();
    this.#model = model;
    this.#session = session;
    this.#apart = null;
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  /** Answers a message of the user. One that cannot be answered is taken back; what was thrown says why. */
  async *say(text: string, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    this.conversation.say(text);
    this.#again = 0;
    try {
      yield* this.#answer(signal);
    } finally {
      this.conversation.takeBack();
    }
  }

  /** Answers the last message of the user once more, if there is one; the answer before stays where this one fails. */
  async *again(signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const before = this.conversation.takeAnswer();
    if (before === null) return;
    this.#again++;
    try {
      yield* this.#answer(signal);
    } finally {
      if (this.conversation.awaitsAnswer) this.conversation.putAnswer(before);
    }
  }

  /** What was made before an interruption stays as the answer; where nothing was, there is none. */
  async *#answer(signal: AbortSignal): AsyncGenerator<TurnEvent> {
    yield* this.#makeRoom();
    let text = '';
    const seed = (this.#options.seed + this.#again) % 2 ** 32;
    for await (const event of this.#session.generate(this.#prompt(), { ...this.#options, seed, signal })) {
      if (event.type !== 'prompt') text += event.text;
      if (event.type === 'end' && (text !== '' || event.reason !== 'aborted')) {
        this.conversation.answer(await this.#messageOf(text));
      }
      yield event;
    }
  }

  #prompt(): Prompt {
    const messages = this.conversation.prompt;
    return this.isBase ? { text: continuation(messages) } : { messages };
  }

  /** A prompt that leaves no room for an answer loses its oldest turns, until it fills half of the context at most. */
  async *#makeRoom(): AsyncGenerator<TurnEvent> {
    const { contextLength } = this.#model.facts.plan;
    const room = Math.min(this.#options.maxTokens, Math.floor(contextLength / 4));
    if ((await this.#tokens()) + room <= contextLength) return;
    const messages: ChatMessage[] = [];
    while ((await this.#tokens()) > contextLength / 2) {
      const left = this.conversation.leaveOut();
      if (left === null) break;
      messages.push(...left);
    }
    if (messages.length > 0) yield { type: 'left-out', messages, contextLength };
    const tokens = await this.#tokens();
    if (tokens >= contextLength) throw new KvadError('KVAD_E_CONTEXT', { tokens, contextLength });
  }

  async #tokens(): Promise<number> {
    const prompt = this.#prompt();
    if ('text' in prompt) return (await this.#model.encode(prompt.text, { special: true })).length;
    const text = await this.#model.render(this.conversation.prompt, { addGenerationPrompt: true });
    return (await this.#model.encode(text, { special: false })).length;
  }

  async #messageOf(text: string): Promise<ChatMessage> {
    const split = this.isBase ? null : splitReasoning(text);
    if (split === null) return { role: 'assistant', content: text };
    this.#apart ??= await keepsReasoningApart(this.#model);
    return this.#apart
      ? { role: 'assistant', content: split.content, reasoning_content: split.reasoning }
      : { role: 'assistant', content: text };
  }
}

/** To a base model a conversation is a text: each message on a line of its own, an answer where it was made. */
const continuation = (messages: readonly ChatMessage[]): string =>
  messages.reduce((text, { role, content }) => {
    const words = typeof content === 'string' ? content : JSON.stringify(content ?? '');
    return role === 'assistant' || text === '' ? text + words : `${text}\n${words}`;
  }, '');
