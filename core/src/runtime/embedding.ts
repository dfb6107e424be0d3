import type { EmbeddingPlan, ModelPlan, SinusoidalPositions } from '@kvad/schemas';
import type { Batch } from '../axes/context.js';
import type { Norm, Parts } from '../axes/parts.js';
import type { Ops } from '../kernels/ops.js';
import type { Matrix, Tensor, Vector } from '../kernels/tensor.js';
import type { WeightHandles } from './weight-handles.js';

/** x = norm(project(scale * table[id]) + positions), `[rows, hidden]`. */
export class Embedding {
  readonly tokens: Matrix;
  readonly #plan: EmbeddingPlan;
  readonly #hiddenSize: number;
  readonly #ops: Ops;
  readonly #project: { weight: Matrix; bias: Vector | null } | null;
  readonly #positions: Matrix | null;
  readonly #norm: Norm | null;

  constructor({ embedding, hiddenSize }: ModelPlan, weights: WeightHandles, parts: Parts, ops: Ops) {
    this.#plan = embedding;
    this.#hiddenSize = hiddenSize;
    this.#ops = ops;
    this.tokens = weights.matrix('embedding.tokens.weight');
    this.#project = embedding.project && {
      weight: weights.matrix('embedding.project.weight'),
      bias: embedding.project.bias ? weights.vector('embedding.project.bias') : null,
    };
    this.#positions = embedding.positions.kind === 'learned' ? weights.matrix('embedding.positions.weight') : null;
    this.#norm = embedding.norm && parts.createNorm(embedding.norm, hiddenSize, weights.under('embedding.norm.'), ops);
  }

  forward(batch: Batch): Tensor {
    const ops = this.#ops;
    const { size, scale } = this.#plan;
    const looked = ops.tensor(batch.rows, size);
    ops.embed(this.tokens, batch.tokenIds, looked, { scale, offset: 0, add: false });
    const x = this.#projected(looked);
    this.#addPositions(batch, x);
    this.#norm?.forward(x, x);
    return x;
  }

  #projected(looked: Tensor): Tensor {
    if (!this.#project) return looked;
    const x = this.#ops.tensor(looked.rows, this.#hiddenSize);
    this.#ops.linear(looked, this.#project.weight, x, { bias: this.#project.bias });
    return x;
  }

  #addPositions(batch: Batch, x: Tensor): void {
    const { positions } = this.#plan;
    if (positions.kind === 'learned' && this.#positions) {
      this.#ops.embed(this.#positions, batch.positions, x, { scale: 1, offset: positions.offset, add: true });
    } else if (positions.kind === 'sinusoidal') {
      const waves = sinusoids(positions, batch, x.cols);
      this.#ops.add(this.#ops.upload(waves, x.rows, x.cols), x, { keep: 1, scale: 1 });
    }
  }
}

/**
 * Sines and cosines of positions p (offset included) for `cols` columns, computed in float32 as the tables of the
 * published models are:
 *   halves:      sin(p f_j) for j < cols/2, then cos(p f_j), with f_j = 10000^(-j / (cols/2 - 1)); an odd last column is 0
 *                (tensor2tensor, fairseq)
 *   interleaved: sin(p f_j) in column 2j, cos(p f_j) in column 2j + 1, with f_j = 10000^(-2j / cols)
 *                (arXiv:1706.03762, section 3.5)
 */
export const sinusoids = (
  { layout, offset }: SinusoidalPositions,
  { rows, segments }: Pick<Batch, 'rows' | 'segments'>,
  cols: number,
): Float32Array => {
  const half = Math.floor(cols / 2);
  const step = layout === 'halves' ? Math.log(10000) / (half - 1) : Math.log(10000) / (cols / 2);
  const frequencies = Float32Array.from({ length: half }, (_, j) => Math.exp(Math.fround(j * -Math.fround(step))));
  const out = new Float32Array(rows * cols);
  for (const { start, length, position } of segments) {
    for (let i = 0; i < length; i++) {
      const row = (start + i) * cols;
      for (let j = 0; j < half; j++) {
        const angle = Math.fround((position + i + offset) * frequencies[j]!);
        const [sine, cosine] = layout === 'halves' ? [j, half + j] : [2 * j, 2 * j + 1];
        out[row + sine] = Math.sin(angle);
        out[row + cosine] = Math.cos(angle);
      }
    }
  }
  return out;
};
