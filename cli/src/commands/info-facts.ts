import type { Checkpoint } from '@kvad/core';
import type { CliInfo } from '@kvad/schemas';
import type { PlannedFile } from './planned-model.js';

export const familyFacts = ({
  plan,
  resolved,
}: PlannedFile): Pick<CliInfo, 'family' | 'model_type' | 'about' | 'plugin'> => {
  const { name, version, origin } = resolved.plugin.found;
  return {
    family: plan.family,
    model_type: plan.modelType,
    about: resolved.family.about,
    plugin: { name, version, origin },
  };
};

export const shapeOf = ({ plan }: PlannedFile): CliInfo['shape'] => {
  const visited = plan.schedule.flatMap(({ layer }) => plan.layers[layer]?.ops ?? []);
  const counts = (axis: 'mixer' | 'ffn'): CliInfo['shape']['mixers'] => {
    const kinds = visited.filter((op) => op.axis === axis).map(({ kind }) => kind);
    return [...new Set(kinds)].map((kind) => ({ kind, count: kinds.filter((other) => other === kind).length }));
  };
  return {
    layers: plan.layers.length,
    hidden_size: plan.hiddenSize,
    vocab_size: plan.vocabSize,
    context_length: plan.contextLength,
    mixers: counts('mixer'),
    ffns: counts('ffn'),
  };
};

export const storedSize = ({ files, tensors }: Checkpoint): CliInfo['stored'] => {
  const dtypes: Record<string, number> = {};
  for (const { dtype, byteLength } of tensors.values()) dtypes[dtype] = (dtypes[dtype] ?? 0) + byteLength;
  return { files: files.length, bytes: Object.values(dtypes).reduce((sum, bytes) => sum + bytes, 0), dtypes };
};
