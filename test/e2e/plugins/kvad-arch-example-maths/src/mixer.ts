/**
 * Selective state space: a memory that each token fades and fills as it says itself.
 *    [u | z] = W_in x;  u = silu(conv(u));  [d | B | C] = W_x u;  Δ = softplus(W_Δ d + b_Δ)
 *    S = exp(-Δ exp(A_log)) S + Δ u ⊗ B;  y = S C + D u;  out = W_out (y silu(z))
 * x, out [rows, hidden]; u, z, Δ, y [rows, inner]; B, C [rows, size]. States: S [inner, size], the last inputs of conv.
 * Source: arXiv:2312.00752, algorithm 2.
 */
import { definePart, Linear, linearSlots, schema, type AttentionMixer, type Tensor } from '@kvad/core/plugin';

export type ScanOptions = Record<'inner' | 'size' | 'rank' | 'kernel', number> & Record<'bias' | 'convBias', boolean>;

const { size: count, flag } = schema;
const MEMORY = { dtype: 'f32', init: 0, rollback: 'none' } as const;

export const scan = definePart<AttentionMixer, ScanOptions>({
  kind: 'example-scan',
  about: 'a selective state space, in plain TypeScript',
  needsHost: true,
  options: schema.object({ inner: count, size: count, rank: count, kernel: count, bias: flag, convBias: flag }),

  slots: ({ inner, size, rank, kernel, bias, convBias }, { hiddenSize }) => [
    ...linearSlots('in', 2 * inner, hiddenSize, bias),
    ...linearSlots('select', rank + 2 * size, inner, false, 'exact'),
    ...linearSlots('delta', inner, rank, true, 'exact'),
    ...linearSlots('out', hiddenSize, inner, bias),
    { name: 'conv.weight', shape: [inner, 1, kernel], role: 'exact' },
    ...(convBias ? [{ name: 'conv.bias', shape: [inner], role: 'exact' } as const] : []),
    { name: 'decay.log', shape: [inner, size], role: 'exact' },
    { name: 'skip', shape: [inner], role: 'exact' },
  ],

  create({ inner, size, rank, kernel, bias, convBias }, { weights, ops }) {
    const [into, out] = [new Linear('in', bias, weights, ops), new Linear('out', bias, weights, ops)];
    const [select, toDelta] = [new Linear('select', false, weights, ops), new Linear('delta', true, weights, ops)];
    const conv = { kernel, weight: weights.vector('conv.weight'), bias: convBias ? weights.vector('conv.bias') : null };
    const rate = weights.values('decay.log').map((value) => -Math.exp(value));
    const skip = weights.values('skip');
    return {
      state: [
        { name: 'conv', kind: 'conv', shape: [inner, kernel - 1], ...MEMORY },
        { name: 'memory', kind: 'recurrent', shape: [inner, size], ...MEMORY },
      ],
      forward(x, result, ctx) {
        const { segments } = ctx.batch;
        const both = into.of(x);
        const u = ops.tensor(x.rows, inner);
        const inputs = segments.map(({ start, length }, i) => ({ start, length, state: ctx.state('conv')[i]! }));
        ops.causalConv(ops.columns(both, 0, inner), u, { ...conv, segments: inputs });
        ops.activate(u, u, 'silu');
        const selected = select.of(u);
        const delta = toDelta.of(ops.columns(selected, 0, rank));
        ops.activate(delta, delta, 'softplus');

        const values = (tensor: Tensor) => Float32Array.from(ops.host(tensor)); // good until the next call: a copy
        const [input, step, chosen] = [values(u), values(delta), values(selected)];
        const y = new Float32Array(x.rows * inner);
        segments.forEach(({ start, length }, i) => {
          const held = ops.stateTensor(ctx.state('memory')[i]!);
          const memory = values(held);
          for (let row = start; row < start + length; row++) {
            const b = row * (rank + 2 * size) + rank;
            for (let channel = 0; channel < inner; channel++) {
              const at = row * inner + channel;
              let sum = skip[channel]! * input[at]!;
              for (let n = 0, m = channel * size; n < size; n++, m++) {
                memory[m] = Math.exp(step[at]! * rate[m]!) * memory[m]! + step[at]! * input[at]! * chosen[b + n]!;
                sum += chosen[b + size + n]! * memory[m]!;
              }
              y[at] = sum;
            }
          }
          ops.write(held, memory);
        });
        const gated = ops.upload(y, x.rows, inner);
        ops.gated(ops.columns(both, inner, inner), gated, gated, 'silu');
        out.into(gated, result);
      },
    };
  },
});
