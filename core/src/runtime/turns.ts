/** Lets one job in after the other. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when all before it are done, with what ends this turn. */
  async take(): Promise<() => void> {
    const before = this.#last;
    let end!: () => void;
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }

  async run<T>(job: () => Promise<T>): Promise<T> {
    const end = await this.take();
    try {
      return await job();
    } finally {
      end();
    }
  }
}
