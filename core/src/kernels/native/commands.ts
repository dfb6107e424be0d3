import type { Tensor } from '../tensor.js';
import type { Addon, NativeEngine, Opcode } from './addon.js';
import { OPCODES } from './addon.js';
import { tensorOf } from './handles.js';

const CODES = new Map<Opcode, number>(OPCODES.map((name, code) => [name, code]));

/** True for an error of the addon about commands that it does not run: their tensors and numbers do not go together. */
export const isRefusedByArithmetic = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('native arithmetic refused ');

/**
 * So many are started at first: more would leave the threads waiting for them. Then twice as many each time, for the threads
 * have more and more to do and calls cost; a limit keeps one list of a long forward from being all of it.
 */
const STARTED_FIRST = 8;
const STARTED_TOGETHER = 256;

/**
 * A list of commands: `opcode, count, arguments…` as doubles. The threads of the addon begin while the rest is recorded;
 * `run` waits for all. Arguments are written where they stay: a step of a small model has hundreds of commands, and
 * arrays of arguments would cost more than its norms.
 */
export class CommandList {
  #commands = new Float64Array(1 << 14);
  #length = 0;
  #start = 0;
  #open = false;
  #ended = 0;
  #started = false;
  #together = STARTED_FIRST;

  constructor(
    readonly addon: Addon,
    readonly engine: NativeEngine,
  ) {}

  begin(opcode: Opcode): this {
    this.#dropUnended();
    // products that follow each other stay together: those of the same rows are one job
    if (this.#ended >= this.#together && opcode !== 'linear') this.#begin();
    this.#start = this.#length;
    this.#open = true;
    return this.number(CODES.get(opcode)!).number(0);
  }

  number(value: number): this {
    if (this.#length === this.#commands.length) this.#grow();
    this.#commands[this.#length++] = value;
    return this;
  }

  /** Four arguments: where it begins, rows, cols, elements from row to row. */
  tensor(x: Tensor): this {
    const { offset, rows, cols, stride } = tensorOf(x);
    return this.number(offset).number(rows).number(cols).number(stride);
  }

  end(): void {
    this.#commands[this.#start + 1] = this.#length - this.#start - 2;
    this.#open = false;
    this.#ended++;
  }

  /** Waits until all that was recorded is computed. Throws where a command was wrong. */
  run(): void {
    this.#dropUnended();
    this.#begin();
    if (!this.#started) return;
    this.#started = false;
    this.#together = STARTED_FIRST;
    this.addon.finish(this.engine);
  }

  #begin(): void {
    if (this.#length === 0) return;
    const count = this.#length;
    this.#length = 0;
    this.#ended = 0;
    this.#started = true;
    this.#together = Math.min(2 * this.#together, STARTED_TOGETHER);
    this.addon.start(this.engine, this.#commands, count);
  }

  /** What was begun when an argument was refused. */
  #dropUnended(): void {
    if (this.#open) this.#length = this.#start;
    this.#open = false;
  }

  #grow(): void {
    const larger = new Float64Array(this.#commands.length * 2);
    larger.set(this.#commands);
    this.#commands = larger;
  }
}
