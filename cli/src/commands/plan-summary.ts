import type { LayerPlan, ModelPlan, NormPlan, OpPlan } from '@kvad/schemas';

/** A plan for people: everything that `--json` has, with equal layers written once. */
export const planSummary = (plan: ModelPlan): string =>
  [
    `${plan.family} (model_type ${plan.modelType})`,
    row(
      'shape',
      words({
        vocabSize: plan.vocabSize,
        hiddenSize: plan.hiddenSize,
        contextLength: plan.contextLength,
        layers: plan.layers.length,
      }),
    ),
    row('embedding', words({ ...plan.embedding })),
    ...Object.entries(plan.ropeTables).map(([id, table]) => row(`rope ${id}`, words({ ...table }))),
    ...plan.inputs.map(({ name, kind, options }) => row(`input ${name}`, `${kind} ${words(options)}`)),
    row('stack', `${plan.stack.kind} ${words(plan.stack.options)}`),
    ...layerGroups(plan.layers).flatMap(({ layer, indices }) => layerLines(layer, indices)),
    ...scheduleLines(plan),
    row('final norm', plan.finalNorm === null ? 'none' : normWords(plan.finalNorm)),
    row('head', words({ ...plan.head })),
    row('residual', plan.residualDtype),
  ]
    .map((line) => line.trimEnd())
    .join('\n');

const row = (name: string, text: string): string => `  ${name.padEnd(13)} ${text}`;

interface LayerGroup {
  readonly layer: LayerPlan;
  readonly indices: number[];
}

/** Layers that are the same, wherever they stand. */
const layerGroups = (layers: readonly LayerPlan[]): LayerGroup[] => {
  const groups = new Map<string, LayerGroup>();
  layers.forEach((layer, index) => {
    const key = JSON.stringify(layer);
    const group = groups.get(key) ?? { layer, indices: [] };
    group.indices.push(index);
    groups.set(key, group);
  });
  return [...groups.values()];
};

const layerLines = (layer: LayerPlan, indices: readonly number[]): string[] => {
  const block = `${layer.block.kind} ${words(layer.block.options)}`.trimEnd();
  return [
    row(indices.length === 1 ? 'layer' : 'layers', `${ranges(indices)}  (${indices.length} of them, block ${block})`),
    ...layer.ops.flatMap(opLines),
  ];
};

const opLines = (op: OpPlan): string[] => {
  const { scale, keep, from } = op.residual;
  const name = op.name === op.axis ? op.axis : `${op.name} (${op.axis})`;
  const norms = (['before', 'after', 'sum'] as const).flatMap((place) => {
    const norm = op.norm[place];
    return norm === undefined ? [] : [`norm ${place}: ${normWords(norm)}`];
  });
  return [
    `    ${name.padEnd(11)} ${op.kind}`,
    `      ${words(op.options)}`,
    ...norms.map((norm) => `      ${norm}`),
    `      residual: ${words({ scale, keep, from })}`,
  ];
};

/** [0, 1, 2, 4, 5, 8] -> `0-2, 4-5, 8` */
export const ranges = (indices: readonly number[]): string => {
  const runs: [number, number][] = [];
  for (const index of indices) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(', ');
};

/** Silent where each layer is visited once, in order, with a state of its own. */
const scheduleLines = ({ schedule, layers }: ModelPlan): string[] => {
  const plain =
    schedule.length === layers.length && schedule.every(({ layer, state }, i) => layer === i && state === i);
  return plain ? [] : [row('schedule', schedule.map(({ layer, state }) => `${layer}/${state}`).join(' '))];
};

const normWords = ({ kind, ...rest }: NormPlan): string => `${kind} ${words(rest)}`;

const words = (options: Readonly<Record<string, unknown>>): string =>
  Object.entries(options)
    .map(([key, value]) => `${key}=${word(value)}`)
    .join(' ');

const word = (value: unknown): string => {
  if (Array.isArray(value) && value.length > 8) return `[${value.slice(0, 4).join(', ')}, … ${value.length} values]`;
  if (Array.isArray(value)) return `[${value.map(word).join(', ')}]`;
  if (value !== null && typeof value === 'object') return `{${words(value as Record<string, unknown>)}}`;
  return String(value);
};
