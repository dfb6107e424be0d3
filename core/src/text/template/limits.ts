/** A template that asks for more than a rendering may take. Not seen by the template: nothing in it can catch this. */
export class LimitExceeded extends Error {}

/** What one rendering may take. */
export interface LimitValues {
  /** Statements, calls, rounds of loops, and what is read or made, 64 characters or one item each. */
  readonly steps: number;
  /** Macros, blocks and recursive loops inside each other; also values inside each other. */
  readonly depth: number;
  /** Code units of one text, the prompt with it. */
  readonly text: number;
  /** Code units of all texts that were made on the way. */
  readonly texts: number;
  /** Items of one list. */
  readonly items: number;
  /** Milliseconds. Time in which the process stood still is not counted. */
  readonly time: number;
}

/** Far beyond what a conversation of a million tokens needs. */
export const LIMITS: LimitValues = {
  steps: 50_000_000,
  depth: 200,
  text: 32 * 1024 * 1024,
  texts: 256 * 1024 * 1024,
  items: 2_000_000,
  time: 1_000,
};

/** Steps between two looks at the clock. */
const STEPS_A_LOOK = 2_048;
/** One operation takes less; what takes longer was a process that stood still. */
const LONGEST_OPERATION = 100;

/** Counts what one rendering takes, and ends it with LimitExceeded. */
export class Budget {
  readonly #limits: LimitValues;
  #steps = 0;
  #look = STEPS_A_LOOK;
  #depth = 0;
  #texts = 0;
  #time = 0;
  #lastLook = performance.now();

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  step(): void {
    if (++this.#steps >= this.#look) this.#lookAround();
  }

  /** Of items or of 64 characters that an operation goes through. */
  steps(count: number): void {
    this.#steps += count;
    if (this.#steps >= this.#look) this.#lookAround();
  }

  /** A text of so many code units is read. */
  reads(length: number): void {
    this.steps(length >>> 6);
  }

  /** A text of so many code units is about to be made; `copied`: how many of them anew. */
  makes(length: number, copied = length): void {
    if (!(length <= this.#limits.text)) throw new LimitExceeded(`a text of more than ${this.#limits.text} characters`);
    this.#texts += copied;
    if (this.#texts > this.#limits.texts) {
      throw new LimitExceeded(`texts of more than ${this.#limits.texts} characters in all`);
    }
    this.steps(copied >>> 6);
  }

  /** A list of so many items is about to be made. */
  lists(count: number): void {
    if (!(count <= this.#limits.items)) throw new LimitExceeded(`a list of more than ${this.#limits.items} items`);
    this.steps(count);
  }

  /** A list got its last item. */
  grows(count: number): void {
    if (count > this.#limits.items) this.lists(count);
    this.step();
  }

  /** `leave` follows. */
  enter(): void {
    if (++this.#depth > this.#limits.depth) {
      throw new LimitExceeded(`calls or values inside each other, ${this.#limits.depth} deep`);
    }
    this.step();
  }

  leave(): void {
    this.#depth--;
  }

  #lookAround() {
    const { steps, time } = this.#limits;
    if (this.#steps > steps) throw new LimitExceeded(`more than ${steps} steps`);
    const now = performance.now();
    this.#time += Math.min(now - this.#lastLook, LONGEST_OPERATION);
    this.#lastLook = now;
    if (this.#time > time) throw new LimitExceeded(`more than ${time} ms`);
    this.#look = this.#steps + STEPS_A_LOOK;
  }
}
