import { newMemory, type Lifetime, type Memory } from './host-tensor.js';

const SMALLEST_CHUNK = 1 << 18;

interface Chunk extends Memory {
  readonly size: number;
}

/** One allocation: where it ends in its chunk. */
interface Allocation extends Lifetime {
  readonly chunk: number;
  readonly end: number;
}

export interface Place extends Memory {
  readonly offset: number;
  readonly lifetime: Lifetime;
}

/**
 * Scratch memory as a stack. `release(mark())` gives back what was taken in between; the memory is kept for the next
 * time. New memory is filled with NaN, so that reading what nobody wrote shows in the result.
 */
export class Arena {
  #chunks: Chunk[] = [];
  readonly #taken: Allocation[] = [];

  /** Room for that many 4-byte elements. */
  take(elements: number): Place {
    const top = this.#taken.at(-1);
    let chunk = top?.chunk ?? 0;
    let offset = top?.end ?? 0;
    if (offset + elements > this.#room(chunk)) {
      // Nothing alive lies above the top: a chunk there that is too small may be replaced.
      if (offset > 0) chunk++;
      offset = 0;
      if (elements > this.#room(chunk)) {
        const size = Math.max(elements, SMALLEST_CHUNK << Math.min(chunk, 6));
        this.#chunks[chunk] = { ...newMemory(size), size };
      }
    }
    const { f32, i32 } = this.#chunks[chunk]!;
    f32.fill(NaN, offset, offset + elements);
    const allocation: Allocation = { live: true, chunk, end: offset + elements };
    this.#taken.push(allocation);
    return { f32, i32, offset, lifetime: allocation };
  }

  /** Elements of a chunk; less than none where there is no chunk yet. */
  #room(chunk: number): number {
    return this.#chunks[chunk]?.size ?? -1;
  }

  mark(): number {
    return this.#taken.length;
  }

  release(mark: number): void {
    if (mark > this.#taken.length) throw new Error(`release: mark ${mark} was released before (now at ${this.mark()})`);
    while (this.#taken.length > mark) this.#taken.pop()!.live = false;
  }

  dispose(): void {
    this.release(0);
    this.#chunks = [];
  }
}
