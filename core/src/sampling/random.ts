/**
 * Random numbers of the sampler: xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", https://prng.di.unimi.it/xoshiro128starstar.c), its four words filled by two outputs of SplitMix64
 * (https://prng.di.unimi.it/splitmix64.c), low half first. The same seed gives the same numbers on every machine.
 *
 * Test vectors: SplitMix64 of seed 1234567 gives 6457827717110365317, 3203168211198807973; xoshiro128** from the
 * words [1, 2, 3, 4] gives 11520, 0, 5927040, 70819200.
 */
export class Random {
  readonly #words: Uint32Array;

  private constructor(words: Uint32Array) {
    this.#words = words;
  }

  /** `seed`: an integer in [0, 2^53). */
  static seeded(seed: number): Random {
    const stream = splitmix64(BigInt(seed));
    const words = new Uint32Array(4);
    for (let pair = 0; pair < 2; pair++) {
      const bits = stream();
      words[2 * pair] = Number(bits & 0xffffffffn);
      words[2 * pair + 1] = Number(bits >> 32n);
    }
    return new Random(words);
  }

  static ofWords(words: readonly [number, number, number, number]): Random {
    return new Random(Uint32Array.from(words));
  }

  /** The next 32 bits as an unsigned integer. */
  bits(): number {
    const s = this.#words;
    const result = Math.imul(rotateLeft(Math.imul(s[1]!, 5), 7), 9) >>> 0;
    const shifted = s[1]! << 9;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= shifted;
    s[3] = rotateLeft(s[3]!, 11);
    return result;
  }

  /** Uniform in [0, 1) with 53 bits: 27 of the first draw above 26 of the second. */
  uniform(): number {
    const high = this.bits() >>> 5;
    const low = this.bits() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }
}

const rotateLeft = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/** Outputs of SplitMix64, one a call, as unsigned 64-bit integers. */
export const splitmix64 = (seed: bigint): (() => bigint) => {
  let state = seed;
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  };
};
