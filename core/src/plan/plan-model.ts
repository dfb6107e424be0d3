import type { ModelPlan } from '@kvad/schemas';
import { isKvadError, KvadError } from '../errors/kvad-error.js';
import type { ConfigAudit } from './audit.js';
import { auditKeys } from './config-audit.js';
import { quantizationOf } from './config-quantized.js';
import { ConfigRecorder, join } from './config-recorder.js';
import { isConfigRefusal } from './config-refusal.js';
import { ConfigSchema } from './config-schema.js';
import { isObject, type RawConfig } from './config-source.js';
import type { Family, PlanDraft } from './family.js';
import { planProblem } from './plan-check.js';
import { shortJson } from './short-json.js';
import { storedDtypeConflict } from './stored-dtype.js';
import { textConfigOf, type TextConfig } from './text-config.js';
import type { WeightRule } from './weight-rules.js';

export interface PlanModelRequest {
  readonly family: Family;
  /** The one of the family's model types that the config names. */
  readonly modelType: string;
  /** What config.json holds. */
  readonly raw: unknown;
  /** Its path, for messages. */
  readonly file: string;
  /** Folder of the family's JSON Schema. */
  readonly schemas: string;
  /** The same schema, compiled before: for callers that plan many configs of one family. */
  readonly schema?: ConfigSchema;
  /** Unknown keys stay in the audit as `refused` instead of being thrown. */
  readonly lenient?: boolean;
  /** Name of the plugin that brings the family, for messages about its mistakes. */
  readonly plugin?: string;
}

export interface PlannedModel {
  readonly plan: ModelPlan;
  readonly rules: readonly WeightRule[];
  readonly audit: ConfigAudit;
  /** The config that the family read: checked, nulls gone, defaults filled in. */
  readonly config: RawConfig;
}

/**
 * config.json -> plan and weight rules, by way of a family. Throws KVAD_E_CONFIG_READ (no object), …_QUANTIZED,
 * …_INVALID (by the family's schema), …_VALUE and …_CONFLICT (what the family or the rotary tables refuse),
 * …_UNKNOWN_KEY (all keys that nobody read or declared), KVAD_E_PLAN_INVALID, and KVAD_E_PLUGIN where the family fails.
 */
export const planModel = (request: PlanModelRequest): PlannedModel => {
  const { family, modelType, raw, file } = request;
  if (!isObject(raw)) throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: 'it holds no JSON object' });
  refuseQuantized(raw, file);

  const text = asked(request, '', () => textConfigOf(raw, family.config, modelType));
  if (text.prefix !== '') refuseQuantized(text.raw, file);

  const schema = asked(request, '', () => request.schema ?? ConfigSchema.read(request.schemas, family.config.schema));
  const config = completed(request, schema, text);
  const recorder = new ConfigRecorder(file, config, text.raw, (key) => schema.declares(key));
  const { draft, rules } = asked(request, text.prefix, () => ({
    draft: family.plan(recorder.config),
    rules: family.weights(recorder.config),
  }));

  const audit = auditOf(request, text, recorder);
  if (audit.refused.length > 0 && request.lenient !== true) {
    const keys = audit.refused.map(({ key }) => key);
    const values = audit.refused.map(({ value }) => shortJson(value));
    throw new KvadError('KVAD_E_CONFIG_UNKNOWN_KEY', { keys, values, file, family: modelType });
  }
  return { plan: asked(request, text.prefix, () => finished(request, draft)), rules, audit, config };
};

/** What stands for a packed checkpoint, or contradicts itself about one. */
const refuseQuantized = (raw: RawConfig, file: string): void => {
  const quantization = quantizationOf(raw);
  if (quantization !== null) throw new KvadError('KVAD_E_CONFIG_QUANTIZED', { ...quantization, file });
  const conflict = storedDtypeConflict(raw);
  if (conflict !== null) throw new KvadError('KVAD_E_CONFIG_CONFLICT', { ...conflict, file });
};

const completed = (request: PlanModelRequest, schema: ConfigSchema, text: TextConfig): RawConfig => {
  const { modelType, file } = request;
  const config = schema.withoutNulls(text.raw);
  const problems = [...asked(request, '', () => schema.complete(config)), ...tooManyLayers(config)];
  if (problems.length === 0) return config;
  const named = problems.map((problem) => ({ ...problem, key: join(text.prefix, problem.key) }));
  throw new KvadError('KVAD_E_CONFIG_INVALID', { problems: named, file, family: modelType });
};

/** Keys under which configs count their layers. */
const LAYER_COUNTS = ['num_hidden_layers', 'num_layers', 'n_layer', 'n_layers'] as const;
/** A plan lists its layers: a count that no model has would be a list that no memory holds. */
const MOST_LAYERS = 10_000;

const tooManyLayers = (config: RawConfig) =>
  LAYER_COUNTS.filter((key) => Number(config[key]) > MOST_LAYERS).map((key) => ({
    key,
    value: shortJson(config[key]),
    rule: `be <= ${MOST_LAYERS}`,
  }));

const auditOf = ({ family, file }: PlanModelRequest, text: TextConfig, recorder: ConfigRecorder): ConfigAudit => {
  const outer = text.auditOuter(recorder.reads);
  const inner = auditKeys(
    text.inner,
    {
      reads: new Set(['model_type', ...[...recorder.reads].filter((key) => !Object.hasOwn(text.overruled, key))]),
      inert: new Map([...Object.entries({ ...family.config.inert, ...text.overruled }), ...recorder.inerts]),
    },
    text.prefix,
  );
  return {
    file,
    read: [...outer.read, ...inner.read],
    inert: [...outer.inert, ...inner.inert],
    refused: [...outer.refused, ...inner.refused],
  };
};

const finished = ({ family, modelType, file }: PlanModelRequest, draft: PlanDraft): ModelPlan => {
  const plan: ModelPlan = { version: 1, family: family.modelTypes[0] ?? modelType, modelType, ...draft };
  const problem = planProblem(plan);
  if (problem !== null) throw new KvadError('KVAD_E_PLAN_INVALID', { family: modelType, ...problem, file });
  return structuredClone(plan);
};

/** Runs code of the family; what it refuses gets the file's name, and any other failure is the plugin's. */
const asked = <T>(request: PlanModelRequest, prefix: string, step: () => T): T => {
  const { modelType, file } = request;
  try {
    return step();
  } catch (error) {
    if (isKvadError(error)) throw error;
    if (isConfigRefusal(error)) {
      const { key, value, reason } = error;
      const params = { key: join(prefix, key), value: shortJson(value), reason, file, family: modelType };
      throw new KvadError('KVAD_E_CONFIG_VALUE', params, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new KvadError('KVAD_E_PLUGIN', { plugin: request.plugin ?? `for ${modelType}`, reason }, { cause: error });
  }
};
