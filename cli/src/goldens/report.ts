import { isDeepStrictEqual } from 'node:util';

/** What a folder of expected values, made by software that is not ours, comes to. */
export interface GoldensReport {
  readonly object: 'kvad.goldens';
  readonly dir: string;
  readonly kind: 'templates' | 'tokenizers' | 'scoring';
  readonly cases: number;
  readonly equal: number;
  readonly different: number;
  readonly refused_both: number;
  readonly refused_only_here: number;
  readonly refused_only_there: number;
  /** The largest relative difference of a compared number; of numbers only. */
  readonly max_rel?: number;
  /** What the folder holds and kvad has not, with the reason. */
  readonly not_run?: readonly NotRun[];
  /** The first 20. */
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly id: string;
  readonly expected: unknown;
  readonly got: unknown;
}

export interface NotRun {
  readonly id: string;
  readonly reason: string;
}

const MOST_FAILURES = 20;

/** Counts cases. */
export class Tally {
  #cases = 0;
  #equal = 0;
  #refusedHere = 0;
  #refusedThere = 0;
  #refusedBoth = 0;
  /** null: no numbers have been compared with a tolerance relative to them. */
  #maxRel: number | null = null;
  readonly #failures: Failure[] = [];
  readonly #notRun: NotRun[] = [];

  same(id: string, expected: unknown, got: unknown): void {
    this.#count(id, expected, got, isDeepStrictEqual(got, expected));
  }

  /** As `same`, of what is still to be asked for. */
  async answer(id: string, expected: unknown, ask: () => unknown): Promise<void> {
    let got: unknown;
    try {
      got = await ask();
    } catch (error) {
      return this.refused(id, error);
    }
    this.same(id, expected, got);
  }

  /** |got / expected - 1| is at most `tolerance`. */
  relative(id: string, expected: number, got: number | null, tolerance: number): void {
    const difference = got === null ? Infinity : expected === got ? 0 : Math.abs(got / expected - 1);
    if (!(difference <= (this.#maxRel ?? -1))) this.#maxRel = difference;
    this.#count(id, expected, got, difference <= tolerance);
  }

  /** |got - expected| is at most `tolerance`. */
  absolute(id: string, expected: number, got: number | null, tolerance: number): void {
    this.#count(id, expected, got, got !== null && Math.abs(got - expected) <= tolerance);
  }

  /** Refused where the other software gave a value. */
  refused(id: string, error: unknown): void {
    this.#cases++;
    this.#refusedHere++;
    this.#fail({ id, expected: 'a value', got: error instanceof Error ? error.message : String(error) });
  }

  /** Refused by both. */
  refusedByBoth(): void {
    this.#cases++;
    this.#refusedBoth++;
  }

  /** A value where the other software refused. */
  accepted(id: string, refusal: unknown, got: unknown): void {
    this.#cases++;
    this.#refusedThere++;
    this.#fail({ id, expected: refusal, got });
  }

  notRun(id: string, reason: string): void {
    this.#notRun.push({ id, reason });
  }

  report(dir: string, kind: GoldensReport['kind']): GoldensReport {
    return {
      object: 'kvad.goldens',
      dir,
      kind,
      cases: this.#cases,
      equal: this.#equal,
      different: this.#cases - this.#equal - this.#refusedHere - this.#refusedThere - this.#refusedBoth,
      refused_both: this.#refusedBoth,
      refused_only_here: this.#refusedHere,
      refused_only_there: this.#refusedThere,
      ...(this.#maxRel === null ? {} : { max_rel: this.#maxRel }),
      ...(this.#notRun.length === 0 ? {} : { not_run: this.#notRun }),
      failures: this.#failures,
    };
  }

  #count(id: string, expected: unknown, got: unknown, equal: boolean): void {
    this.#cases++;
    if (equal) this.#equal++;
    else this.#fail({ id, expected, got });
  }

  #fail(failure: Failure): void {
    if (this.#failures.length < MOST_FAILURES) this.#failures.push(failure);
  }
}
