import type { HeadStepPlan, ModelPlan, NormPlan, PartPlan } from '@kvad/schemas';
import type { Axis, NamedPart, NormPartOptions } from '../axes/parts.js';

/** Options of a norm part for rows of `size` columns. */
export const normPart = (norm: NormPlan, size: number): PartPlan => {
  const { kind, options, ...frame } = norm;
  return { kind, options: { ...options, ...frame, size } satisfies NormPartOptions };
};

/** The parts that a plan names by itself. What those name in turn they tell with `nested`. */
export const partsOf = (plan: ModelPlan): NamedPart[] => [
  ...norms([plan.embedding.norm, plan.finalNorm], plan.hiddenSize),
  ...plan.inputs.map(({ kind, options }): NamedPart => ({ axis: 'input', part: { kind, options } })),
  { axis: 'stack', part: plan.stack },
  ...plan.layers.flatMap((layer): NamedPart[] => [
    { axis: 'block', part: layer.block },
    ...layer.ops.flatMap((op): NamedPart[] => [
      { axis: op.axis, part: { kind: op.kind, options: op.options } },
      ...norms([op.norm.before, op.norm.after, op.norm.sum], plan.hiddenSize),
    ]),
  ]),
  ...plan.head.before.flatMap(headPart),
];

/** Each kind once. */
export const kindsOf = (named: readonly NamedPart[]): { axis: Axis; kind: string }[] => {
  const seen = new Map(named.map(({ axis, part }) => [`${axis} ${part.kind}`, { axis, kind: part.kind }]));
  return [...seen.values()];
};

const norms = (plans: readonly (NormPlan | null | undefined)[], size: number): NamedPart[] =>
  plans.flatMap((norm): NamedPart[] => (norm ? [{ axis: 'norm', part: normPart(norm, size) }] : []));

/** `linear` is the engine's own: it names no part. */
const headPart = ({ axis, kind, options }: HeadStepPlan): NamedPart[] =>
  axis === 'linear' ? [] : [{ axis, part: { kind, options } }];
