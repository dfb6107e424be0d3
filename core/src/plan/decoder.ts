import type { EmbeddingPlan, HeadPlan, LayerPlan, NormPlan, RopeTablePlan } from '@kvad/schemas';
import type { PlanDraft } from './family.js';

/** What a family says of a decoder; what it leaves out is the plain case, written into the plan explicitly. */
export interface DecoderChoice {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly contextLength: number;
  readonly layerCount: number;
  readonly layer: (index: number) => LayerPlan;
  readonly embedding?: Partial<EmbeddingPlan>;
  readonly rope?: Readonly<Record<string, RopeTablePlan>>;
  readonly finalNorm: NormPlan | null;
  readonly head: Partial<HeadPlan> & Pick<HeadPlan, 'tied'>;
  readonly inputs?: PlanDraft['inputs'];
  readonly stack?: PlanDraft['stack'];
  readonly schedule?: PlanDraft['schedule'];
}

/** A plan with every value explicit. Each layer is visited once, in order, unless `schedule` says otherwise. */
export const decoder = (choice: DecoderChoice): PlanDraft => {
  const layers = Array.from({ length: choice.layerCount }, (_, index) => choice.layer(index));
  const ropeTables = { ...choice.rope };
  return {
    vocabSize: choice.vocabSize,
    hiddenSize: choice.hiddenSize,
    contextLength: Math.max(choice.contextLength, ...Object.values(ropeTables).map(reach)),
    embedding: {
      size: choice.hiddenSize,
      scale: 1,
      positions: { kind: 'none' },
      norm: null,
      project: null,
      ...choice.embedding,
    },
    inputs: choice.inputs ?? [],
    stack: choice.stack ?? { kind: 'sequential', options: {} },
    layers,
    schedule: choice.schedule ?? layers.map((_, index) => ({ layer: index, state: index })),
    finalNorm: choice.finalNorm,
    head: { before: [], bias: false, logitScale: 1, softcap: null, dtype: 'f32', ...choice.head },
    ropeTables,
    residualDtype: 'f32',
  };
};

/** A dynamic table is there for sequences longer than the model was trained for; the others stay within that. */
const reach = (table: RopeTablePlan): number =>
  table.type === 'dynamic' && table.alpha === null ? Math.floor(table.originalContext * table.factor) : 0;
