import 'reflect-metadata';
import type { JSONSchema, NormPlan, PartPlan } from '@kvad/schemas';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { injectAll, injectable } from 'tsyringe';
import type {
  Activation,
  AttentionMixer,
  Axis,
  Block,
  Dims,
  FeedForward,
  NamedPart,
  Norm,
  Part,
  PartTypes,
  PartWeights,
  Parts,
  Router,
  SharedExpert,
  SideInput,
  Stack,
  WeightSlot,
} from '../axes/parts.js';
import {
  ACTIVATION,
  ATTENTION_MIXER,
  BLOCK,
  FEED_FORWARD,
  INPUT,
  NORM,
  ROUTER,
  SHARED_EXPERT,
  STACK,
} from '../axes/tokens.js';
import { isKvadError, KvadError } from '../errors/kvad-error.js';
import type { Ops } from '../kernels/ops.js';
import { normPart } from '../plan/plan-parts.js';
import type { Plugin } from '../plan/plugin.js';
import { schemaCheck, type SchemaCheck } from '../plan/schema-compiler.js';

/** Options are JSON to the engine: the part's own schema has accepted them before the part sees them. */
type AnyPart<A extends Axis = Axis> = Part<PartTypes[A], unknown>;

/**
 * All parts that a model may name, by axis and kind. Options are checked against the part's schema before its `slots`
 * or `create` sees them. Throws KVAD_E_PART_UNKNOWN, KVAD_E_PART_TWICE, KVAD_E_PLAN_OPTIONS, and KVAD_E_PLUGIN for
 * whatever a part throws itself.
 */
@injectable()
export class PartRegistry implements Parts {
  readonly #parts: ReadonlyMap<Axis, ReadonlyMap<string, AnyPart>>;
  readonly #checks = new Map<AnyPart, SchemaCheck>();
  /** Options that a part has accepted, as JSON: each layer has much the same, and they are looked at several times. */
  readonly #accepted = new Map<AnyPart, Set<string>>();

  constructor(
    @injectAll(ATTENTION_MIXER, { isOptional: true }) mixers: readonly Part<AttentionMixer, unknown>[],
    @injectAll(FEED_FORWARD, { isOptional: true }) feedForwards: readonly Part<FeedForward, unknown>[],
    @injectAll(ROUTER, { isOptional: true }) routers: readonly Part<Router, unknown>[],
    @injectAll(SHARED_EXPERT, { isOptional: true }) sharedExperts: readonly Part<SharedExpert, unknown>[],
    @injectAll(BLOCK, { isOptional: true }) blocks: readonly Part<Block, unknown>[],
    @injectAll(STACK, { isOptional: true }) stacks: readonly Part<Stack, unknown>[],
    @injectAll(INPUT, { isOptional: true }) inputs: readonly Part<SideInput, unknown>[],
    @injectAll(NORM, { isOptional: true }) norms: readonly Part<Norm, unknown>[],
    @injectAll(ACTIVATION, { isOptional: true }) activations: readonly Part<Activation, unknown>[],
  ) {
    this.#parts = new Map<Axis, ReadonlyMap<string, AnyPart>>([
      ['mixer', byKind('mixer', mixers)],
      ['ffn', byKind('ffn', feedForwards)],
      ['router', byKind('router', routers)],
      ['shared-expert', byKind('shared-expert', sharedExperts)],
      ['block', byKind('block', blocks)],
      ['stack', byKind('stack', stacks)],
      ['input', byKind('input', inputs)],
      ['norm', byKind('norm', norms)],
      ['activation', byKind('activation', activations)],
    ]);
  }

  /** The parts of these plugins, without a container. */
  static of(plugins: readonly Plugin[]): PartRegistry {
    return new PartRegistry(
      plugins.flatMap((plugin) => plugin.mixers),
      plugins.flatMap((plugin) => plugin.feedForwards),
      plugins.flatMap((plugin) => plugin.routers),
      plugins.flatMap((plugin) => plugin.sharedExperts),
      plugins.flatMap((plugin) => plugin.blocks),
      plugins.flatMap((plugin) => plugin.stacks),
      plugins.flatMap((plugin) => plugin.inputs),
      plugins.flatMap((plugin) => plugin.norms),
      plugins.flatMap((plugin) => plugin.activations),
    );
  }

  has(axis: Axis, kind: string): boolean {
    return this.#parts.get(axis)?.has(kind) ?? false;
  }

  /** The parts that the options of a part name. */
  nested({ axis, part }: NamedPart): readonly NamedPart[] {
    const found = this.#checked(axis, part);
    return blame(axis, part.kind, () => found.nested?.(part.options) ?? []);
  }

  slots(axis: Axis, part: PartPlan, dims: Dims, prefix: string): readonly WeightSlot[] {
    const found = this.#checked(axis, part);
    const slots = blame(axis, part.kind, () => found.slots(part.options, dims, this));
    return slots.map((slot) => ({ ...slot, name: prefix + slot.name }));
  }

  create<A extends Axis>(axis: A, part: PartPlan, dims: Dims, weights: PartWeights, ops: Ops): PartTypes[A] {
    const found = this.#checked(axis, part);
    const context = { dims, weights, ops, parts: this };
    return blame(axis, part.kind, () => found.create(part.options, context) as PartTypes[A]);
  }

  normSlots(norm: NormPlan, size: number, prefix: string): readonly WeightSlot[] {
    return this.slots('norm', normPart(norm, size), { hiddenSize: size, vocabSize: 0 }, prefix);
  }

  createNorm(norm: NormPlan, size: number, weights: PartWeights, ops: Ops): Norm {
    return this.create('norm', normPart(norm, size), { hiddenSize: size, vocabSize: 0 }, weights, ops);
  }

  #checked(axis: Axis, { kind, options }: PartPlan): AnyPart {
    const parts = this.#parts.get(axis);
    const part = parts?.get(kind);
    if (!part) {
      const known = [...(parts?.keys() ?? [])].sort();
      throw new KvadError('KVAD_E_PART_UNKNOWN', { axis, kind, provider: null, known });
    }
    const accepted = this.#accepted.get(part) ?? new Set<string>();
    const json = JSON.stringify(options);
    if (accepted.has(json)) return part;
    const check = this.#checks.get(part) ?? schemaCheck(part.options);
    this.#checks.set(part, check);
    const [error] = blame(axis, kind, () => check(options));
    if (error !== undefined) throw new KvadError('KVAD_E_PLAN_OPTIONS', { axis, kind, ...complaint(error) });
    this.#accepted.set(part, accepted.add(json));
    return part;
  }
}

const byKind = (axis: Axis, parts: readonly Part<unknown, unknown>[]): ReadonlyMap<string, AnyPart> => {
  const kinds = new Map<string, AnyPart>();
  for (const part of parts) {
    if (kinds.has(part.kind)) throw new KvadError('KVAD_E_PART_TWICE', { axis, kind: part.kind });
    kinds.set(part.kind, part as AnyPart);
  }
  return kinds;
};

/** An error that a part throws is its plugin's, with the plugin's own message. */
export const blame = <T>(axis: Axis, kind: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    if (isKvadError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new KvadError('KVAD_E_PLUGIN', { plugin: `that brings the ${axis} "${kind}"`, reason }, { cause: error });
  }
};

const complaint = ({ params, instancePath, message }: ErrorObject): { path: string; reason: string } => {
  const { additionalProperty, allowedValues } = params as JSONSchema;
  const detail =
    additionalProperty !== undefined
      ? ` (${String(additionalProperty)})`
      : Array.isArray(allowedValues)
        ? ` (${allowedValues.join(', ')})`
        : '';
  return { path: instancePath || 'the whole', reason: `${message ?? 'is not valid'}${detail}` };
};
