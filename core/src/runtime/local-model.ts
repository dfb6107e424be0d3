import type { Checkpoint } from '../checkpoint/checkpoint.js';
import { KvadError } from '../errors/kvad-error.js';
import { giveBackFreedMemory } from '../kernels/native/freed-memory.js';
import type { Ops } from '../kernels/ops.js';
import { Scorer } from '../scoring/scorer.js';
import type { PerplexityOptions, PerplexityRequest, PerplexityResult } from '../scoring/types.js';
import type { ChatMessage, TextSide } from '../text/types.js';
import { LocalSession } from './local-session.js';
import type { Model } from './model.js';
import { render } from './prompt.js';
import { Scheduler } from './scheduler.js';
import { Sequence } from './sequence.js';
import type { LoadedModel, ModelFacts, RenderOptions, Session } from './types.js';

/** What a loaded model is made of. */
export interface LocalModelPieces {
  readonly facts: ModelFacts;
  readonly model: Model;
  readonly ops: Ops;
  readonly checkpoint: Checkpoint;
  readonly text: TextSide;
  /** Rows of one forward of a prompt. */
  readonly batchSize: number;
}

/**
 * A model in this thread: each forward blocks it. The engine runs one in a worker; tests and tools may use it directly.
 */
export class LocalModel implements LoadedModel {
  readonly #pieces: LocalModelPieces;
  readonly #scheduler: Scheduler;
  readonly #sessions = new Set<LocalSession>();
  readonly #scorer: Scorer;
  #closed = false;

  constructor(pieces: LocalModelPieces) {
    this.#pieces = pieces;
    this.#scheduler = new Scheduler(pieces.model, pieces.batchSize);
    this.#scorer = new Scorer({ ...pieces, scheduler: this.#scheduler });
  }

  /** Warnings of the text side join those of the load: prompts may bring new ones. */
  get facts(): ModelFacts {
    const { facts, text } = this.#pieces;
    return { ...facts, warnings: [...facts.warnings, ...text.warnings] };
  }

  async session(): Promise<LocalSession> {
    this.#requireOpen();
    const { model, text, batchSize } = this.#pieces;
    const { directory } = this.facts;
    const sequence = new Sequence(model);
    const generator = { directory, model, text, scheduler: this.#scheduler, sequence, chunk: batchSize };
    const session: LocalSession = new LocalSession(generator, () => this.#sessions.delete(session));
    this.#sessions.add(session);
    return session;
  }

  async step(sessions: readonly Session[], ids: readonly (readonly number[])[]): Promise<readonly Float32Array[]> {
    this.#requireOpen();
    if (sessions.length !== ids.length) {
      const expected = `one list for each of ${sessions.length} sessions`;
      throw new KvadError('KVAD_E_OPTION', { option: 'ids', value: `${ids.length} lists`, expected });
    }
    return Promise.all(sessions.map((session, index) => session.prefill(ids[index]!, { logits: 'last' })));
  }

  async encode(text: string, options: { special: boolean }): Promise<number[]> {
    this.#requireOpen();
    return this.#pieces.text.tokenizer.encode(text, options);
  }

  async decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string> {
    this.#requireOpen();
    return this.#pieces.text.tokenizer.decode(ids, options);
  }

  async render(messages: readonly ChatMessage[], options: RenderOptions): Promise<string> {
    this.#requireOpen();
    return render(this.#pieces.text, this.facts.directory, messages, options);
  }

  async perplexity(request: PerplexityRequest, options?: PerplexityOptions): Promise<PerplexityResult> {
    this.#requireOpen();
    return this.#scorer.perplexity(request, options);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const session of [...this.#sessions]) await session.close();
    this.#scorer.close();
    this.#pieces.ops.dispose();
    this.#pieces.checkpoint.close();
    giveBackFreedMemory();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requireOpen(): void {
    if (this.#closed) throw new KvadError('KVAD_E_CLOSED', { what: 'model' });
  }
}
