import type { StatesSnapshot } from './sequence-states.js';

interface Held {
  readonly length: number;
  readonly snapshot: StatesSnapshot;
}

/**
 * Snapshots along a sequence of the states that cannot be cut, so that it can go back to one of them. Held within a
 * byte budget: when it is exceeded, the one whose neighbours lie closest is given up, never the last.
 */
export class Checkpoints {
  readonly #budget: number;
  #held: Held[] = [];

  /** `budget` in bytes. */
  constructor(budget: number) {
    this.#budget = budget;
  }

  get lengths(): readonly number[] {
    return this.#held.map(({ length }) => length);
  }

  /** `length`: tokens of the sequence now. One at that length is kept as it is. */
  add(length: number, take: () => StatesSnapshot): void {
    if (length === 0 || this.#held.at(-1)?.length === length) return;
    this.#held.push({ length, snapshot: take() });
    while (this.#held.length > 1 && this.#bytes() > this.#budget) this.#held.splice(this.#leastMissed(), 1);
  }

  /** The last one at or before `length`; null: only the start is there. */
  before(length: number): Held | null {
    return this.#held.findLast((held) => held.length <= length) ?? null;
  }

  /** Gives up those after `length`. */
  cut(length: number): void {
    this.#held = this.#held.filter((held) => held.length <= length);
  }

  #bytes(): number {
    return this.#held.reduce((total, { snapshot }) => total + snapshot.bytes, 0);
  }

  #leastMissed(): number {
    const gapWithout = (index: number): number => this.#held[index + 1]!.length - (this.#held[index - 1]?.length ?? 0);
    let least = 0;
    for (let index = 1; index < this.#held.length - 1; index++) {
      if (gapWithout(index) < gapWithout(least)) least = index;
    }
    return least;
  }
}
