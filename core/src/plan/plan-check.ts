import { schema, type ModelPlan } from '@kvad/schemas';
import { isObject } from './config-source.js';
import { schemaCheck, type SchemaCheck } from './schema-compiler.js';

/** Why a plan is not one; `path` is dotted: `layers.3.ops.0.options.window`. */
export interface PlanProblem {
  readonly path: string;
  readonly reason: string;
}

/** What the schema of plans, or plain sense, finds wrong; null: nothing. Options are checked by their parts, later. */
export const planProblem = (plan: unknown): PlanProblem | null =>
  notJson(plan, '') ?? schemaProblem(plan) ?? scheduleProblem(plan as ModelPlan);

/** JSON has no NaN, no Infinity, no undefined: each of them is a value that a family took from a key that is not there. */
const notJson = (value: unknown, path: string): PlanProblem | null => {
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path, reason: `is ${value}` };
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null;
  if (!Array.isArray(value) && !isObject(value)) return { path, reason: `is ${typeof value}` };
  for (const [key, child] of Object.entries(value)) {
    const problem = notJson(child, path === '' ? key : `${path}.${key}`);
    if (problem !== null) return problem;
  }
  return null;
};

/** Read with the first plan; the schema ships with this package. */
let checkPlan: SchemaCheck | undefined;

const schemaProblem = (plan: unknown): PlanProblem | null => {
  checkPlan ??= schemaCheck(schema('model-plan'));
  const [error] = checkPlan(plan);
  if (error === undefined) return null;
  return {
    path: error.instancePath.slice(1).replaceAll('/', '.'),
    reason: `${error.message ?? 'does not fit the schema'} ${JSON.stringify(error.params)}`,
  };
};

const scheduleProblem = ({ schedule, layers }: ModelPlan): PlanProblem | null => {
  const visit = schedule.findIndex(({ layer }) => layer >= layers.length);
  return visit < 0
    ? null
    : {
        path: `schedule.${visit}.layer`,
        reason: `is ${schedule[visit]?.layer}, and there are ${layers.length} layers`,
      };
};
