import type { ActivationName, AttendOptions, NormOptions, Ops } from '../ops.js';
import type { RecurrentSegment } from '../recurrent-ops.js';
import type { MatrixStack, Tensor, Vector } from '../tensor.js';
import type { CommandList } from './commands.js';
import { matrixOf, stackOf, stateOf, vectorOf, view } from './handles.js';

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
    list.push('embed', [matrixOf(table).id, ...view(ids), ...view(out), scale, offset, Number(add)]);
  },

  linear(...[x, weight, out, { bias }]: Parameters<Ops['linear']>): void {
    list.push('linear', [...view(x), matrixOf(weight).id, ...view(out), vectorId(bias)]);
  },

  rmsNorm(x: Tensor, out: Tensor, options: NormOptions): void {
    list.push('rmsNorm', [...view(x), ...view(out), ...normArguments(options)]);
  },

  layerNorm(x: Tensor, out: Tensor, options: NormOptions & { bias: Vector | null }): void {
    list.push('layerNorm', [...view(x), ...view(out), ...normArguments(options), vectorId(options.bias)]);
  },

  activate(x: Tensor, out: Tensor, f: ActivationName): void {
    list.push('activate', [...view(x), ...view(out), code(f)]);
  },

  gated(gate: Tensor, x: Tensor, out: Tensor, f: ActivationName): void {
    list.push('gated', [...view(gate), ...view(x), ...view(out), code(f)]);
  },

  xielu(...[x, out, { alphaP, alphaN, beta, eps }]: Parameters<Ops['xielu']>): void {
    list.push('xielu', [...view(x), ...view(out), alphaP, alphaN, beta, eps]);
  },

  add(...[x, out, { keep, scale }]: Parameters<Ops['add']>): void {
    list.push('add', [...view(x), ...view(out), keep, scale]);
  },

  multiply(x: Tensor, y: Tensor, out: Tensor): void {
    list.push('multiply', [...view(x), ...view(y), ...view(out)]);
  },

  scaleGroups(...[x, factors, out, { size }]: Parameters<Ops['scaleGroups']>): void {
    list.push('scaleGroups', [...view(x), ...view(factors), ...view(out), size]);
  },

  affine(...[x, out, { scale, bias }]: Parameters<Ops['affine']>): void {
    list.push('affine', [...view(x), ...view(out), vectorId(scale), vectorId(bias)]);
  },

  scale(x: Tensor, out: Tensor, scale: number): void {
    list.push('scale', [...view(x), ...view(out), scale]);
  },

  clamp(...[x, out, { low, high }]: Parameters<Ops['clamp']>): void {
    list.push('clamp', [...view(x), ...view(out), low ?? -Infinity, high ?? Infinity]);
  },

  softcap(x: Tensor, out: Tensor, cap: number): void {
    list.push('softcap', [...view(x), ...view(out), cap]);
  },

  copy(x: Tensor, out: Tensor): void {
    list.push('copy', [...view(x), ...view(out)]);
  },

  rope(...[x, { cos, sin, dims }, options]: Parameters<Ops['rope']>): void {
    const { heads, headDim, from, layout, inverse } = options;
    const turn = [dims, heads, headDim, from, Number(layout === 'interleaved'), Number(inverse)];
    list.push('rope', [...view(x), ...view(cos), ...view(sin), ...turn]);
  },

  attend(q: Tensor, out: Tensor, options: AttendOptions): void {
    const { segments, heads, kvHeads, keyDim, valueDim, scale, window, chunk, softcap, sinks, slopes } = options;
    const shape = [heads, kvHeads, keyDim, valueDim, scale, window ?? 0, chunk ?? 0, softcap ?? 0];
    const rows = segments.flatMap(({ start, length, position, keys, values }) => [
      start,
      length,
      position,
      stateOf(keys).id,
      stateOf(values).id,
    ]);
    const vectors = [vectorId(sinks), vectorId(slopes)];
    list.push('attend', [...view(q), ...view(out), ...shape, ...vectors, segments.length, ...rows]);
  },

  // --- routers and experts --------------------------------------------------------------------

  softmax(x: Tensor, out: Tensor): void {
    list.push('softmax', [...view(x), ...view(out)]);
  },

  keepGroups(...[x, out, { groups, keep, by, masked }]: Parameters<Ops['keepGroups']>): void {
    list.push('keepGroups', [...view(x), ...view(out), groups, keep, Number(by === 'sum2'), masked]);
  },

  topK(x: Tensor, ids: Tensor): void {
    list.push('topK', [...view(x), ...view(ids)]);
  },

  gather(x: Tensor, ids: Tensor, out: Tensor): void {
    list.push('gather', [...view(x), ...view(ids), ...view(out)]);
  },

  normaliseRows(...[x, out, { eps, floor }]: Parameters<Ops['normaliseRows']>): void {
    list.push('normaliseRows', [...view(x), ...view(out), eps, floor]);
  },

  expertLinear(...[x, weight, out, { ids, bias }]: Parameters<Ops['expertLinear']>): void {
    list.push('expertLinear', [...view(x), stackOf(weight).id, ...view(out), ...view(ids), vectorId(bias)]);
  },

  combine(...[x, weights, out, { keep }]: Parameters<Ops['combine']>): void {
    list.push('combine', [...view(x), ...view(weights), ...view(out), keep]);
  },

  headLinear(x: Tensor, weight: MatrixStack, out: Tensor): void {
    list.push('headLinear', [...view(x), stackOf(weight).id, ...view(out)]);
  },

  // --- recurrent mixers -----------------------------------------------------------------------

  causalConv(...[x, out, { segments, weight, bias, kernel }]: Parameters<Ops['causalConv']>): void {
    const rows = fixedSegments(segments);
    list.push('causalConv', [...view(x), ...view(out), vectorId(weight), vectorId(bias), kernel, ...rows]);
  },

  l2Norm(...[x, out, { size, eps }]: Parameters<Ops['l2Norm']>): void {
    list.push('l2Norm', [...view(x), ...view(out), size, eps]);
  },

  deltaRule(...[{ q, k, v, decay, beta }, out, options]: Parameters<Ops['deltaRule']>): void {
    const { segments, keyHeads, valueHeads, keyDim, valueDim } = options;
    const inputs = [q, k, v, decay, beta, out].flatMap(view);
    list.push('deltaRule', [...inputs, keyHeads, valueHeads, keyDim, valueDim, ...fixedSegments(segments)]);
  },
});

const normArguments = ({ size, eps, offset, weight }: NormOptions): readonly number[] => {
  const own = weight !== null && vectorOf(weight).length !== size;
  return [size, eps, offset, vectorId(weight), Number(own)];
};

const fixedSegments = (segments: readonly RecurrentSegment[]): readonly number[] => [
  segments.length,
  ...segments.flatMap(({ start, length, state }) => [start, length, stateOf(state).id]),
];
