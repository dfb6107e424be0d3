/** What the config of OLMo Hybrid leaves to be worked out. */
import { refuseConfig, ropeOf, type RopeTablePlan } from '@kvad/core/plugin';
import { deltaNetDims, type DeltaNetDims } from './delta-net-words.js';
import type { OlmoHybridConfig } from './generated/olmo_hybrid.js';
import { linearLayers } from './layer-kinds.js';

/** As published, heads that are not given are as many as those of attention, and keys are 3/4 of the hidden size. */
export const olmoDeltaNetDims = (c: OlmoHybridConfig): DeltaNetDims => {
  const keyHeads = c.linear_num_key_heads ?? c.num_attention_heads;
  const keyDim = c.linear_key_head_dim ?? Math.trunc((0.75 * c.hidden_size) / keyHeads);
  return deltaNetDims({
    linear_num_key_heads: keyHeads,
    linear_num_value_heads: c.linear_num_value_heads ?? c.num_attention_heads,
    linear_key_head_dim: keyDim,
    linear_value_head_dim: c.linear_value_head_dim ?? 2 * keyDim,
  });
};

/** Every fourth layer has attention, or the last of fewer than four. The published class refuses a model of one kind. */
export const olmoLinearLayers = (c: OlmoHybridConfig): ((layer: number) => boolean) => {
  const layers = c.num_hidden_layers;
  const isLinear = linearLayers(c, (layer) => layer % 4 !== 3 && !(layers < 4 && layer === layers - 1));
  const linear = Array.from({ length: layers }, (_, layer) => isLinear(layer));
  if (!linear.includes(true) || !linear.includes(false))
    refuseConfig('layer_types', c.layer_types, 'has one kind of layer only, and the published class takes both');
  return isLinear;
};

/** The rotary table, or null without positions: where a theta is null. */
export const olmoRope = (c: OlmoHybridConfig, headDim: number): RopeTablePlan | null => {
  const thetas = [c.rope_theta, c.rope_parameters?.rope_theta];
  if (thetas.includes(null)) {
    const other = thetas.find((theta) => typeof theta === 'number');
    if (other !== undefined) refuseConfig('rope_theta', other, 'stands in one place, and null in another');
    return null;
  }
  if (c.rope_parameters === null && c.rope_theta === undefined)
    refuseConfig(
      'rope_parameters',
      null,
      'is no positions to one release of the published code and its default to another; a null "rope_theta" is none',
    );
  return ropeOf(c, { headDim });
};
