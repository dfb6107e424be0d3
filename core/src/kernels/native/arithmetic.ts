import type { ActivationName, AttendOptions, NormOptions, Ops } from '../ops.js';
import type { RecurrentSegment } from '../recurrent-ops.js';
import type { MatrixStack, Tensor, Vector } from '../tensor.js';
import type { CommandList } from './commands.js';
import { matrixOf, stackOf, stateOf, vectorOf } from './handles.js';

const ACTIVATIONS: readonly ActivationName[] = [
  'silu',
  'gelu',
  'gelu_tanh',
  'quick_gelu',
  'relu',
  'relu2',
  'tanh',
  'sigmoid',
  'softplus',
  'identity',
];

const vectorId = (vector: Vector | null): number => (vector ? vectorOf(vector).id : -1);
const code = (f: ActivationName): number => ACTIVATIONS.indexOf(f);

/** What is computed: each call is one command, its arguments in the order of `core/native/src`. */
export const arithmeticOps = (list: CommandList) => ({
  // --- arithmetic -----------------------------------------------------------------------------

  embed(...[table, ids, out, { scale, offset, add }]: Parameters<Ops['embed']>): void {
    list
      .begin('embed')
      .number(matrixOf(table).id)
      .tensor(ids)
      .tensor(out)
      .number(scale)
      .number(offset)
      .number(Number(add))
      .end();
  },

  linear(...[x, weight, out, { bias }]: Parameters<Ops['linear']>): void {
    list.begin('linear').tensor(x).number(matrixOf(weight).id).tensor(out).number(vectorId(bias)).end();
  },

  rmsNorm(x: Tensor, out: Tensor, options: NormOptions): void {
    list.begin('rmsNorm').tensor(x).tensor(out);
    norm(list, options);
    list.end();
  },

  layerNorm(x: Tensor, out: Tensor, options: NormOptions & { bias: Vector | null }): void {
    list.begin('layerNorm').tensor(x).tensor(out);
    norm(list, options);
    list.number(vectorId(options.bias)).end();
  },

  activate(x: Tensor, out: Tensor, f: ActivationName): void {
    list.begin('activate').tensor(x).tensor(out).number(code(f)).end();
  },

  gated(gate: Tensor, x: Tensor, out: Tensor, f: ActivationName): void {
    list.begin('gated').tensor(gate).tensor(x).tensor(out).number(code(f)).end();
  },

  xielu(...[x, out, { alphaP, alphaN, beta, eps }]: Parameters<Ops['xielu']>): void {
    list.begin('xielu').tensor(x).tensor(out).number(alphaP).number(alphaN).number(beta).number(eps).end();
  },

  add(...[x, out, { keep, scale }]: Parameters<Ops['add']>): void {
    list.begin('add').tensor(x).tensor(out).number(keep).number(scale).end();
  },

  multiply(x: Tensor, y: Tensor, out: Tensor): void {
    list.begin('multiply').tensor(x).tensor(y).tensor(out).end();
  },

  scaleGroups(...[x, factors, out, { size }]: Parameters<Ops['scaleGroups']>): void {
    list.begin('scaleGroups').tensor(x).tensor(factors).tensor(out).number(size).end();
  },

  affine(...[x, out, { scale, bias }]: Parameters<Ops['affine']>): void {
    list.begin('affine').tensor(x).tensor(out).number(vectorId(scale)).number(vectorId(bias)).end();
  },

  scale(x: Tensor, out: Tensor, scale: number): void {
    list.begin('scale').tensor(x).tensor(out).number(scale).end();
  },

  clamp(...[x, out, { low, high }]: Parameters<Ops['clamp']>): void {
    list
      .begin('clamp')
      .tensor(x)
      .tensor(out)
      .number(low ?? -Infinity)
      .number(high ?? Infinity)
      .end();
  },

  softcap(x: Tensor, out: Tensor, cap: number): void {
    list.begin('softcap').tensor(x).tensor(out).number(cap).end();
  },

  copy(x: Tensor, out: Tensor): void {
    list.begin('copy').tensor(x).tensor(out).end();
  },

  rope(...[x, { cos, sin, dims }, options]: Parameters<Ops['rope']>): void {
    const { heads, headDim, from, layout, inverse } = options;
    list.begin('rope').tensor(x).tensor(cos).tensor(sin).number(dims).number(heads).number(headDim).number(from);
    list
      .number(Number(layout === 'interleaved'))
      .number(Number(inverse))
      .end();
  },

  attend(q: Tensor, out: Tensor, options: AttendOptions): void {
    const { segments, heads, kvHeads, keyDim, valueDim, scale, window, chunk, softcap, sinks, slopes } = options;
    list.begin('attend').tensor(q).tensor(out).number(heads).number(kvHeads).number(keyDim).number(valueDim);
    list
      .number(scale)
      .number(window ?? 0)
      .number(chunk ?? 0)
      .number(softcap ?? 0);
    list.number(vectorId(sinks)).number(vectorId(slopes)).number(segments.length);
    for (const { start, length, position, keys, values } of segments) {
      list.number(start).number(length).number(position).number(stateOf(keys).id).number(stateOf(values).id);
    }
    list.end();
  },

  // --- routers and experts --------------------------------------------------------------------

  softmax(x: Tensor, out: Tensor): void {
    list.begin('softmax').tensor(x).tensor(out).end();
  },

  keepGroups(...[x, out, { groups, keep, by, masked }]: Parameters<Ops['keepGroups']>): void {
    list
      .begin('keepGroups')
      .tensor(x)
      .tensor(out)
      .number(groups)
      .number(keep)
      .number(Number(by === 'sum2'))
      .number(masked)
      .end();
  },

  topK(x: Tensor, ids: Tensor): void {
    list.begin('topK').tensor(x).tensor(ids).end();
  },

  gather(x: Tensor, ids: Tensor, out: Tensor): void {
    list.begin('gather').tensor(x).tensor(ids).tensor(out).end();
  },

  normaliseRows(...[x, out, { eps, floor }]: Parameters<Ops['normaliseRows']>): void {
    list.begin('normaliseRows').tensor(x).tensor(out).number(eps).number(floor).end();
  },

  expertLinear(...[x, weight, out, { ids, bias }]: Parameters<Ops['expertLinear']>): void {
    list
      .begin('expertLinear')
      .tensor(x)
      .number(stackOf(weight).id)
      .tensor(out)
      .tensor(ids)
      .number(vectorId(bias))
      .end();
  },

  combine(...[x, weights, out, { keep }]: Parameters<Ops['combine']>): void {
    list.begin('combine').tensor(x).tensor(weights).tensor(out).number(keep).end();
  },

  headLinear(x: Tensor, weight: MatrixStack, out: Tensor): void {
    list.begin('headLinear').tensor(x).number(stackOf(weight).id).tensor(out).end();
  },

  // --- recurrent mixers -----------------------------------------------------------------------

  causalConv(...[x, out, { segments, weight, bias, kernel }]: Parameters<Ops['causalConv']>): void {
    list.begin('causalConv').tensor(x).tensor(out).number(vectorId(weight)).number(vectorId(bias)).number(kernel);
    recurrent(list, segments);
    list.end();
  },

  l2Norm(...[x, out, { size, eps }]: Parameters<Ops['l2Norm']>): void {
    list.begin('l2Norm').tensor(x).tensor(out).number(size).number(eps).end();
  },

  deltaRule(...[{ q, k, v, decay, beta }, out, options]: Parameters<Ops['deltaRule']>): void {
    const { segments, keyHeads, valueHeads, keyDim, valueDim } = options;
    list.begin('deltaRule').tensor(q).tensor(k).tensor(v).tensor(decay).tensor(beta).tensor(out);
    list.number(keyHeads).number(valueHeads).number(keyDim).number(valueDim);
    recurrent(list, segments);
    list.end();
  },
});

const norm = (list: CommandList, { size, eps, offset, weight }: NormOptions): void => {
  const own = weight !== null && vectorOf(weight).length !== size;
  list.number(size).number(eps).number(offset).number(vectorId(weight)).number(Number(own));
};

const recurrent = (list: CommandList, segments: readonly RecurrentSegment[]): void => {
  list.number(segments.length);
  for (const { start, length, state } of segments) list.number(start).number(length).number(stateOf(state).id);
};
