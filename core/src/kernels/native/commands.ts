import type { Addon, NativeEngine, Opcode } from './addon.js';
import { OPCODES } from './addon.js';

const CODES = new Map<Opcode, number>(OPCODES.map((name, code) => [name, code]));

/** A list of commands that is run in one call: `opcode, count, arguments…` as doubles. */
export class CommandList {
  #commands = new Float64Array(1 << 14);
  #length = 0;

  constructor(
    readonly addon: Addon,
    readonly engine: NativeEngine,
  ) {}

  get empty(): boolean {
    return this.#length === 0;
  }

  push(opcode: Opcode, args: readonly number[]): void {
    const end = this.#length + 2 + args.length;
    if (end > this.#commands.length) {
      const larger = new Float64Array(Math.max(end, this.#commands.length * 2));
      larger.set(this.#commands);
      this.#commands = larger;
    }
    this.#commands[this.#length] = CODES.get(opcode)!;
    this.#commands[this.#length + 1] = args.length;
    // a loop: TypedArray.set takes longer for a dozen numbers
    for (let i = 0; i < args.length; i++) this.#commands[this.#length + 2 + i] = args[i]!;
    this.#length = end;
  }

  run(): void {
    if (this.#length === 0) return;
    const count = this.#length;
    this.#length = 0;
    this.addon.run(this.engine, this.#commands, count);
  }
}
