import type { RopeTablePlan } from '@kvad/schemas';
import { angleScale, inverseFrequencies } from './rope-frequencies.js';

/** cos and sin for the rows of a call, row-major `[rows, dims / 2]`. */
export interface TableAngles {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
  /** Rotated columns of a head. */
  readonly dims: number;
}

/** Frequencies of one table at one length. */
interface Frequencies {
  /** Lengths with the same key have the same frequencies. */
  readonly key: number;
  readonly inverse: Float32Array;
  readonly scale: number;
}

/** Lengths with equal keys see the same table: the length itself where it changes with each token. */
const lengthKey = (plan: RopeTablePlan, length: number): number => {
  if (plan.type === 'longrope') return length > plan.originalContext ? 1 : 0;
  if (plan.type === 'dynamic' && plan.alpha === null) return Math.max(length, plan.originalContext);
  return 0;
};

const requireColumns = (id: string, plan: RopeTablePlan): void => {
  if (plan.dims % 2 !== 0) throw new Error(`rope table ${id}: dims ${plan.dims} is odd`);
  if (plan.type === 'proportional' && (plan.rotated % 2 !== 0 || plan.rotated > plan.dims)) {
    throw new Error(`rope table ${id}: rotated ${plan.rotated} is odd or more than dims ${plan.dims}`);
  }
};

const requireFinite = (id: string, { inverse }: Frequencies): void => {
  const broken = inverse.findIndex((frequency) => !Number.isFinite(frequency));
  if (broken >= 0) throw new Error(`rope table ${id}: frequency ${broken} is ${inverse[broken]}`);
};

/** The rope tables of a plan as functions of the positions and of the length of each row's sequence. */
export class RopeTables {
  readonly #plans: Readonly<Record<string, RopeTablePlan>>;
  /** The frequencies used last, by table. */
  readonly #frequencies = new Map<string, Frequencies>();

  constructor(plans: Readonly<Record<string, RopeTablePlan>>) {
    this.#plans = plans;
    for (const [id, plan] of Object.entries(plans)) {
      requireColumns(id, plan);
      requireFinite(id, this.#at(id, plan, 0));
    }
  }

  /**
   * Angles of table `id` for each row. `lengths[i]`: tokens of row i's sequence when this whole call is done (dynamic
   * and longrope tables depend on it). An angle is position * frequency, rounded to float32 as in training.
   */
  angles(id: string, positions: Int32Array, lengths: Int32Array): TableAngles {
    const plan = this.#plans[id];
    if (plan === undefined) throw new Error(`the plan has no rope table ${id}`);
    if (positions.length !== lengths.length) {
      throw new Error(`rope table ${id}: ${positions.length} positions, ${lengths.length} lengths`);
    }
    const pairs = plan.dims / 2;
    const cos = new Float32Array(positions.length * pairs);
    const sin = new Float32Array(positions.length * pairs);
    for (let row = 0; row < positions.length; row++) {
      const { inverse, scale } = this.#at(id, plan, lengths[row]!);
      const factor = Math.fround(scale);
      for (let i = 0; i < pairs; i++) {
        const angle = Math.fround(positions[row]! * inverse[i]!);
        cos[row * pairs + i] = Math.fround(Math.cos(angle)) * factor;
        sin[row * pairs + i] = Math.fround(Math.sin(angle)) * factor;
      }
    }
    return { cos, sin, dims: plan.dims };
  }

  /**
   * A number that changes where a sequence of this length makes the keys that were cached before it useless: a longrope
   * table has crossed its original context, and all frequencies are others. (A dynamic table changes a little with each
   * token; keys keep the angles they were cached with, as published.)
   */
  epoch(length: number): number {
    return Object.values(this.#plans).filter((plan) => plan.type === 'longrope' && length > plan.originalContext)
      .length;
  }

  #at(id: string, plan: RopeTablePlan, length: number): Frequencies {
    const key = lengthKey(plan, length);
    const held = this.#frequencies.get(id);
    if (held?.key === key) return held;
    const made = { key, inverse: inverseFrequencies(plan, length), scale: angleScale(plan, length) };
    this.#frequencies.set(id, made);
    return made;
  }
}
