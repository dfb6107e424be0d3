/** Small parts for tests of the runtime: one state that can be cut, one that cannot, and an FFN that can go wrong. */
import { decoder, defineFamily, definePart, definePlugin, from, pre, rms } from '@kvad/core/plugin';

const HEADS = 2;

/** Softmax attention without rope, or with the table "main". States: keys and values, cut to any length. */
const attention = definePart({
  kind: 'toy-attention',
  about: 'causal attention',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['rope'],
    properties: { rope: { type: ['string', 'null'] } },
  },
  slots: (_, { hiddenSize }) =>
    ['q', 'k', 'v', 'o'].map((name) => ({ name: `${name}.weight`, shape: [hiddenSize, hiddenSize], role: 'matrix' })),
  create({ rope }, { dims: { hiddenSize }, ops, weights }) {
    const [q, k, v, o] = ['q', 'k', 'v', 'o'].map((name) => weights.matrix(`${name}.weight`));
    const headDim = hiddenSize / HEADS;
    const spec = { kind: 'kv', shape: [hiddenSize], dtype: 'cache', init: 0, rollback: 'any' };
    return {
      state: [
        { ...spec, name: 'keys' },
        { ...spec, name: 'values' },
      ],
      forward(x, out, ctx) {
        const [queries, keys, values] = [q, k, v].map((weight) => {
          const projected = ops.tensor(x.rows, hiddenSize);
          ops.linear(x, weight, projected, { bias: null });
          return projected;
        });
        const turn = { heads: HEADS, headDim, from: 0, layout: 'half', inverse: false };
        for (const turned of rope === null ? [] : [queries, keys]) ops.rope(turned, ctx.rope(rope), turn);
        const segments = ctx.batch.segments.map(({ start, length, position }, index) => {
          const held = { keys: ctx.state('keys')[index], values: ctx.state('values')[index] };
          ops.append(held.keys, keys, start, length, position);
          ops.append(held.values, values, start, length, position);
          return { start, length, position, ...held };
        });
        const seen = ops.tensor(x.rows, hiddenSize);
        ops.attend(queries, seen, {
          segments,
          heads: HEADS,
          kvHeads: HEADS,
          keyDim: headDim,
          valueDim: headDim,
          scale: headDim ** -0.5,
          window: null,
          chunk: null,
          softcap: null,
          sinks: null,
          slopes: null,
        });
        ops.linear(seen, o, out, { bias: null });
      },
    };
  },
});

/** m = 0.8 m + W x; y = m. State: m, which cannot be cut. */
const memory = definePart({
  kind: 'toy-memory',
  about: 'a leaky sum over the past',
  needsHost: true,
  options: { type: 'object', additionalProperties: false },
  slots: (_, { hiddenSize }) => [{ name: 'in.weight', shape: [hiddenSize, hiddenSize], role: 'matrix' }],
  create(_, { dims: { hiddenSize }, ops, weights }) {
    const weight = weights.matrix('in.weight');
    return {
      state: [{ name: 'memory', kind: 'recurrent', shape: [hiddenSize], dtype: 'f32', init: 0.25, rollback: 'none' }],
      forward(x, out, ctx) {
        ops.linear(x, weight, out, { bias: null });
        const rows = Float32Array.from(ops.host(out));
        ctx.batch.segments.forEach(({ start, length }, index) => {
          const state = ops.stateTensor(ctx.state('memory')[index]);
          const held = Float32Array.from(ops.host(state));
          for (let row = start; row < start + length; row++) {
            for (let c = 0; c < hiddenSize; c++) {
              held[c] = 0.8 * held[c] + rows[row * hiddenSize + c];
              rows[row * hiddenSize + c] = held[c];
            }
          }
          ops.write(state, held);
        });
        ops.write(out, rows);
      },
    };
  },
});

/** Of which token the fault of `toy-ffn` comes. */
const FAULT_TOKEN = 13;

const wait = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** With `slow`, a forward beyond so many never ends: whoever kills the process then finds it at work. */
const MOST_FORWARDS = Number(process.env.KVAD_TOY_FORWARDS ?? Infinity);
let forwards = 0;

const FAULTS = {
  none: () => undefined,
  throw: () => {
    throw new RangeError('unlucky token');
  },
  exit: () => process.exit(3),
  nan: (out) => out.fill(NaN),
  slow: () => wait(++forwards > MOST_FORWARDS ? Infinity : 20),
  print: () => console.log('printed by a plugin'),
};

/** y = relu(W x); with token 13 in the batch its fault happens. `slow` takes 20 ms for any token. */
const ffn = definePart({
  kind: 'toy-ffn',
  about: 'one matrix, and a fault',
  needsHost: true,
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['fault'],
    properties: { fault: { enum: Object.keys(FAULTS) } },
  },
  slots: (_, { hiddenSize }) => [{ name: 'weight', shape: [hiddenSize, hiddenSize], role: 'matrix' }],
  create({ fault }, { ops, weights }) {
    const weight = weights.matrix('weight');
    return {
      state: [],
      forward(x, out, ctx) {
        ops.linear(x, weight, out, { bias: null });
        ops.activate(out, out, 'relu');
        if (fault !== 'slow' && !ops.host(ctx.batch.tokenIds).includes(FAULT_TOKEN)) return;
        const values = Float32Array.from(ops.host(out));
        FAULTS[fault](values);
        ops.write(out, values);
      },
    };
  },
});

const norm = rms(1e-5);

/** What the tests build plans from: `layer_types` names the mixer of each layer. */
const plan = ({ vocab_size, hidden_size, layer_types, fault }) =>
  decoder({
    vocabSize: vocab_size,
    hiddenSize: hidden_size,
    contextLength: 256,
    layerCount: layer_types.length,
    layer: (index) =>
      pre(norm, {
        mixer: { kind: layer_types[index], ...(layer_types[index] === 'toy-attention' ? { rope: null } : {}) },
        ffn: { kind: 'toy-ffn', fault: index === 0 ? fault : 'none' },
      }),
    finalNorm: norm,
    head: { tied: false },
  });

const toy = defineFamily({
  modelTypes: ['toy_lm'],
  about: 'for tests of the runtime',
  reference: 'none',
  config: { schema: 'toy.schema.json' },
  plan,
  weights: () => [
    ...['embedding.tokens', 'head', 'finalNorm'].map((slot) => from(`${slot}.weight`, `${slot}.weight`)),
    ...['q', 'k', 'v', 'o', 'in', 'norm.before'].map((slot) =>
      from(`layers.{layer}.mixer.${slot}.weight`, `layers.{layer}.mixer.${slot}.weight`),
    ),
    ...['weight', 'norm.before.weight'].map((slot) => from(`layers.{layer}.ffn.${slot}`, `layers.{layer}.ffn.${slot}`)),
  ],
});

export default definePlugin({
  name: 'kvad-arch-toy',
  apiVersion: 1,
  mixers: [attention, memory],
  feedForwards: [ffn],
  families: [toy],
});
