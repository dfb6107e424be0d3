import type { Ops } from '../ops.js';
import { activationOps } from './activations.js';
import { Arena } from './arena.js';
import { attendOps } from './attend.js';
import { elementwiseOps } from './elementwise.js';
import { expertOps } from './experts.js';
import type { Lifetime } from './host-tensor.js';
import { linearOps } from './linear.js';
import { memoryOps } from './memory.js';
import { normOps } from './norms.js';
import { recurrentOps } from './recurrent.js';
import { ropeOps } from './rope.js';
import { routingOps } from './routing.js';
import { stateOps } from './states.js';
import { weightOps } from './weights.js';

/**
 * The reference arithmetic: plain loops over float32 arrays, every sum in float64, each result rounded to float32
 * once. It is what other implementations are measured against, and what runs where none of them does. It refuses
 * wrong shapes, overlapping outputs and released memory, so a part that passes its tests here asks for nothing
 * undefined elsewhere. Calls run at once.
 *
 * `kvCacheDtype`: how states of dtype `cache` are held; `f16` rounds what is appended.
 */
export const createReferenceOps = ({ kvCacheDtype }: { readonly kvCacheDtype: 'f16' | 'f32' }): Ops => {
  const arena = new Arena();
  const lifetime: Lifetime = { live: true };
  return {
    name: 'reference',
    threads: 1,
    ...memoryOps(arena),
    ...weightOps,
    ...stateOps(kvCacheDtype, lifetime),
    ...linearOps,
    ...normOps,
    ...activationOps,
    ...elementwiseOps,
    ...ropeOps,
    ...attendOps,
    ...routingOps,
    ...expertOps,
    ...recurrentOps,
    dispose: () => {
      lifetime.live = false;
      arena.dispose();
    },
  };
};
