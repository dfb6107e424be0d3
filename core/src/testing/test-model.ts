import path from 'node:path';
import type { ModelPlan } from '@kvad/schemas';
import { BUILTIN_PARTS } from '../axes/builtin/index.js';
import { bindWeights, refuseBadWeights } from '../checkpoint/bind.js';
import { openCheckpoint } from '../checkpoint/open.js';
import type { Ops } from '../kernels/ops.js';
import { createReferenceOps } from '../kernels/reference/index.js';
import type { Precision } from '../kernels/tensor.js';
import type { ConfigAudit, WeightAudit } from '../plan/audit.js';
import { readConfig } from '../plan/config-file.js';
import type { ConfigSchema } from '../plan/config-schema.js';
import type { RawConfig } from '../plan/config-source.js';
import { planModel, type PlannedModel } from '../plan/plan-model.js';
import type { Plugin } from '../plan/plugin.js';
import { planSlots } from '../plan/slots.js';
import { Model } from '../runtime/model.js';
import { PartRegistry } from '../runtime/part-registry.js';
import { prefill } from '../runtime/prefill.js';
import { Scheduler } from '../runtime/scheduler.js';
import { Sequence, type SequenceSnapshot } from '../runtime/sequence.js';
import { concatenate } from './compare.js';
import type { FamilyUnderTest } from './plugin-under-test.js';
import type { VerifiableModel } from './verify.js';

/** Checkpoints of states that cannot be cut come often, so that a short prompt crosses several. */
const CHECKPOINTS = { every: 8, budget: 2 ** 28 };
const BATCH_ROWS = 512;

export interface TestModelOptions {
  readonly under: FamilyUnderTest;
  /** All plugins whose parts the plan may name. */
  readonly plugins: readonly Plugin[];
  /** Folder of the checkpoint. */
  readonly directory: string;
  /** Changes the plan before the model is built: to see that a wrong one is noticed. */
  readonly edit?: (plan: ModelPlan) => ModelPlan;
  /** True: tensors may be left over, as after an edit that drops a bias. Missing ones are then found when they are read. */
  readonly anyWeights?: boolean;
  /** What computes; absent: the reference arithmetic with an f32 cache. */
  readonly ops?: Ops;
  /** Precision of the matrices; absent: as stored. */
  readonly quant?: Precision;
}

/**
 * A model in this process, on the reference arithmetic with an f32 cache unless it is told otherwise: no worker and no
 * registry, so that a test sees what a plugin itself throws. It owns its ops.
 */
export class TestModel implements VerifiableModel {
  readonly facts: { readonly plan: ModelPlan };
  readonly configAudit: ConfigAudit;
  readonly weightAudit: WeightAudit;
  readonly model: Model;
  readonly scheduler: Scheduler;
  readonly #release: () => void;

  private constructor(model: Model, audits: { config: ConfigAudit; weights: WeightAudit }, release: () => void) {
    this.facts = { plan: model.plan };
    this.configAudit = audits.config;
    this.weightAudit = audits.weights;
    this.model = model;
    this.scheduler = new Scheduler(model, BATCH_ROWS);
    this.#release = release;
  }

  /** Throws what planning, opening and binding throw, missing and unexpected tensors included. */
  static open({ under, plugins, directory, edit = (plan) => plan, ...options }: TestModelOptions): TestModel {
    const { anyWeights = false, ops = createReferenceOps({ kvCacheDtype: 'f32' }), quant = null } = options;
    const planned = planConfig(under, configIn(directory), directory);
    const plan = edit(structuredClone(planned.plan));
    const parts = PartRegistry.of([BUILTIN_PARTS, ...plugins]);
    const slots = planSlots(plan, parts);
    const checkpoint = openCheckpoint(directory);
    const { weights, audit } = bindWeights({ slots, rules: planned.rules, tied: plan.head.tied, checkpoint });
    if (!anyWeights) refuseBadWeights(audit, checkpoint);
    const model = new Model({ plan, slots, weights, parts, ops, quant });
    return new TestModel(model, { config: planned.audit, weights: audit }, () => {
      ops.dispose();
      checkpoint.close();
    });
  }

  session(): Promise<TestSession> {
    return Promise.resolve(new TestSession(this));
  }

  close(): Promise<void> {
    this.#release();
    return Promise.resolve();
  }
}

/** One sequence of a `TestModel`. */
export class TestSession {
  readonly sequence: Sequence;
  readonly #model: TestModel;

  constructor(model: TestModel) {
    this.#model = model;
    this.sequence = new Sequence(model.model, CHECKPOINTS);
  }

  /** Appends ids; gives `[ids.length, vocab]` for `all`, `[1, vocab]` for `last`, nothing for `none`. */
  async prefill(
    ids: readonly number[],
    { logits = 'all', chunk = BATCH_ROWS }: { logits?: 'none' | 'last' | 'all'; chunk?: number } = {},
  ): Promise<Float32Array> {
    const { model, scheduler } = this.#model;
    const parts: Float32Array[] = [];
    for await (const part of prefill(model, scheduler, this.sequence, ids, { chunk, logits })) parts.push(part);
    return concatenate(parts);
  }

  truncate(length: number): number {
    return this.sequence.truncate(length);
  }

  snapshot(): SequenceSnapshot {
    return this.sequence.snapshot();
  }

  restore(snapshot: SequenceSnapshot): void {
    this.sequence.restore(snapshot);
  }

  close(): Promise<void> {
    this.sequence.free();
    return Promise.resolve();
  }
}

/** The config.json of a checkpoint folder. */
export const configIn = (directory: string): RawConfig => readConfig(path.join(directory, 'config.json'));

/** Plans a config of this family, as if it stood in this folder. */
export const planConfig = (
  { family, modelType, schemas, plugin }: FamilyUnderTest,
  raw: RawConfig,
  directory: string,
  schema?: ConfigSchema,
): PlannedModel =>
  planModel({
    family,
    modelType,
    raw,
    file: path.join(directory, 'config.json'),
    schemas,
    plugin: plugin.name,
    ...(schema === undefined ? {} : { schema }),
  });
