/** Softmax attention of one sequence in plain loops, an element at a time: what the mixer is held against. */
import type { AttentionOptions } from '../../../plugins/dense/dist/parts/attention-options.js';

export type Rows = readonly (readonly number[])[];
export type Values = (slot: string) => readonly number[];

export interface Rotation {
  readonly theta: number;
  /** Turned columns of a head. */
  readonly dims: number;
}

/** `x` [tokens, hidden] -> [tokens, hidden]. */
export const longhandAttention = (o: AttentionOptions, values: Values, x: Rows, turn: Rotation): number[][] => {
  const project = (name: 'q' | 'k' | 'v' | 'o' | 'gate', rows: Rows): number[][] =>
    rows.map((row) => {
      const out = product(values(`${name}.weight`), row);
      const biased = o.bias[name] === true ? out.map((y, i) => y + values(`${name}.bias`)[i]!) : out;
      return o.clip === undefined || !'qkv'.includes(name) ? biased : biased.map((y) => clamp(y, o.clip!));
    });
  const prepare = (name: 'q' | 'k'): number[][][] =>
    project(name, x).map((row, position) => {
      let y = row;
      if (o.qkNorm?.when === 'before-rope') y = normalise(o, `${name}Norm`, y, values);
      if (o.clipNormed !== undefined) y = y.map((value) => clamp(value, o.clipNormed!));
      let heads = cut(y, o.headDim);
      if (o.positions.kind === 'rope') {
        const { layout, direction } = o.positions;
        heads = heads.map((head) => rotate(head, position, turn, layout, direction === 'forward' ? 1 : -1));
      }
      if (o.qkNorm?.when === 'after-rope') heads = cut(normalise(o, `${name}Norm`, heads.flat(), values), o.headDim);
      return heads;
    });
  const [q, k] = [prepare('q'), prepare('k')];
  const v = project('v', x).map((row) =>
    cut(o.clipNormed === undefined ? row : row.map((y) => clamp(y, o.clipNormed!)), o.valueDim),
  );

  const mixed = q.map((heads, position) =>
    heads.flatMap((query, head) => {
      const group = Math.floor(head / (o.heads / o.kvHeads));
      const seen = x.map((_, key) => key).filter((key) => isSeen(o, position, key));
      const scores = seen.map((key) => {
        const score = o.scale * scaleAt(o, position) * dot(query, k[key]![group]!);
        return o.softcap === undefined ? score : o.softcap * Math.tanh(score / o.softcap);
      });
      const weights = softmax(scores, o.sinks === undefined ? [] : [values('sinks')[head]!]);
      return Array.from({ length: o.valueDim }, (_, i) =>
        weights.reduce((sum, weight, j) => sum + (o.valueScale ?? 1) * weight * v[seen[j]!]![group]![i]!, 0),
      );
    }),
  );
  return project('o', o.outGate === undefined ? mixed : gated(o, mixed, project('gate', x)));
};

const isSeen = ({ mask }: AttentionOptions, query: number, key: number): boolean => {
  if (key > query) return false;
  if (mask.kind === 'window') return query - key < mask.size;
  return mask.kind === 'chunk' ? Math.floor(key / mask.size) === Math.floor(query / mask.size) : true;
};

const scaleAt = ({ queryScale }: AttentionOptions, position: number): number => {
  if (queryScale === undefined) return 1;
  const reached = queryScale.kind === 'position' ? position : position + 1;
  return 1 + queryScale.strength * Math.log(1 + Math.floor(reached / queryScale.every));
};

const gated = ({ outGate, valueDim }: AttentionOptions, rows: Rows, gates: Rows): number[][] =>
  rows.map((row, r) =>
    row.map((y, i) => {
      const gate = gates[r]![outGate === 'softplus-per-head' ? Math.floor(i / valueDim) : i]!;
      return y * (outGate === 'sigmoid' ? 1 / (1 + Math.exp(-gate)) : Math.log(1 + Math.exp(gate)));
    }),
  );

const normalise = ({ qkNorm, headDim }: AttentionOptions, name: string, row: number[], values: Values): number[] => {
  const { kind, eps, offset, weight, bias, scope } = qkNorm!;
  const at = (end: string, group: number, i: number): number =>
    values(`${name}.${end}`)[scope === 'head-own' ? group * headDim + i : i]!;
  return cut(row, scope === 'full' ? row.length : headDim).flatMap((part, group) => {
    const mean = kind === 'rms' ? 0 : part.reduce((sum, y) => sum + y, 0) / part.length;
    const deviation = Math.sqrt(part.reduce((sum, y) => sum + (y - mean) ** 2, 0) / part.length + eps);
    return part.map((y, i) => {
      const scaled = ((y - mean) / deviation) * (weight ? at('weight', group, i) + offset : 1);
      return bias ? scaled + at('bias', group, i) : scaled;
    });
  });
};

const rotate = (head: number[], position: number, { theta, dims }: Rotation, layout: string, sign: number) => {
  const turned = [...head];
  for (let pair = 0; pair < dims / 2; pair++) {
    const [a, b] = layout === 'half' ? [pair, pair + dims / 2] : [2 * pair, 2 * pair + 1];
    const angle = sign * position * theta ** ((-2 * pair) / dims);
    turned[a] = head[a]! * Math.cos(angle) - head[b]! * Math.sin(angle);
    turned[b] = head[b]! * Math.cos(angle) + head[a]! * Math.sin(angle);
  }
  return turned;
};

const softmax = (scores: readonly number[], silent: readonly number[]): number[] => {
  const total = [...scores, ...silent].reduce((sum, score) => sum + Math.exp(score), 0);
  return scores.map((score) => Math.exp(score) / total);
};

const clamp = (y: number, limit: number): number => Math.min(Math.max(y, -limit), limit);
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, y, i) => sum + y * b[i]!, 0);
const cut = (row: readonly number[], size: number): number[][] =>
  Array.from({ length: row.length / size }, (_, i) => row.slice(i * size, (i + 1) * size));
const product = (matrix: readonly number[], row: readonly number[]): number[] =>
  cut(matrix, row.length).map((weights) => dot(weights, row));
