/** The gated delta net written out in float64 over plain lists, one token after the other, for one whole sequence. */

export type Row = readonly number[];

export interface LonghandOptions {
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly kernel: number;
  readonly activation: (x: number) => number;
  readonly lengthEps: number;
  readonly betaScale: number;
  readonly outEps: number;
  readonly outGate: (x: number) => number;
}

/** Row-major values by the names of the mixer's slots. */
export type Weights = Readonly<Record<string, ArrayLike<number>>>;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softplus = (x: number): number => Math.log1p(Math.exp(x));

export const FUNCTIONS = {
  silu: (x: number): number => x * sigmoid(x),
  sigmoid,
  relu: (x: number): number => Math.max(x, 0),
} as const;

const times = (matrix: ArrayLike<number>, x: Row): number[] =>
  Array.from({ length: matrix.length / x.length }, (_, row) =>
    x.reduce((sum, value, column) => sum + matrix[row * x.length + column]! * value, 0),
  );

const unit = (x: Row, eps: number): number[] => {
  const length = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) + eps);
  return x.map((value) => value / length);
};

export const longhand = (options: LonghandOptions, weights: Weights, xs: readonly Row[]): number[][] => {
  const { keyHeads, valueHeads, keyDim, valueDim, kernel, betaScale } = options;
  const keys = keyHeads * keyDim;
  const projected = xs.map((x) => ['q', 'k', 'v'].flatMap((name) => times(weights[`${name}.weight`]!, x)));
  const mixed = projected.map((now, t) =>
    now.map((_, channel) => {
      let sum = 0;
      for (let j = 0; j < kernel; j++) {
        const past = projected[t - (kernel - 1) + j];
        sum += weights['conv.weight']![channel * kernel + j]! * (past === undefined ? 0 : past[channel]!);
      }
      return options.activation(sum);
    }),
  );
  // memory[head][i][j]: what is held under key column i for value column j
  const memory = Array.from({ length: valueHeads }, () =>
    Array.from({ length: keyDim }, () => new Array<number>(valueDim).fill(0)),
  );
  return xs.map((x, t) => {
    const [a, b, z] = ['a', 'b', 'z'].map((name) => times(weights[`${name}.weight`]!, x));
    const y = memory.flatMap((held, head) => {
      const keyHead = Math.floor(head / (valueHeads / keyHeads));
      const cut = (from: number, size: number): number[] => mixed[t]!.slice(from, from + size);
      const q = unit(cut(keyHead * keyDim, keyDim), options.lengthEps).map((value) => value / Math.sqrt(keyDim));
      const k = unit(cut(keys + keyHead * keyDim, keyDim), options.lengthEps);
      const v = cut(2 * keys + head * valueDim, valueDim);
      const beta = betaScale * sigmoid(b![head]!);
      const rate = Math.exp(weights['decay.log']![head]!);
      const stays = Math.exp(-rate * softplus(a![head]! + weights['decay.bias']![head]!));

      for (const row of held) row.forEach((value, j) => (row[j] = value * stays));
      const found = v.map((_, j) => held.reduce((sum, row, i) => sum + row[j]! * k[i]!, 0));
      held.forEach((row, i) => v.forEach((value, j) => (row[j]! += k[i]! * beta * (value - found[j]!))));
      const read = v.map((_, j) => held.reduce((sum, row, i) => sum + row[j]! * q[i]!, 0));

      const size = Math.sqrt(read.reduce((sum, value) => sum + value * value, 0) / valueDim + options.outEps);
      return read.map(
        (value, j) => (value / size) * weights['outNorm.weight']![j]! * options.outGate(z![head * valueDim + j]!),
      );
    });
    return times(weights['o.weight']!, y);
  });
};
