import type { ErrorObject } from 'ajv/dist/2020.js';
import { shortJson } from './short-json.js';

/** One complaint of a JSON Schema about a config. */
export interface SchemaProblem {
  /** Dotted; empty: the whole file. */
  readonly key: string;
  /** What is there, as JSON; null where nothing is. */
  readonly value: string | null;
  /** Completes `must …`. */
  readonly rule: string;
}

const MOST_PROBLEMS = 8;

/** What a reader needs of ajv's errors (compiled with `allErrors` and `verbose`). */
export const schemaProblems = (errors: readonly ErrorObject[]): SchemaProblem[] =>
  errors.filter(isUnion).reduce(mergeUnion, errors).slice(0, MOST_PROBLEMS).map(problemOf);

const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';

/**
 * A union that fails is reported by each of its branches and by itself. What a branch found inside of the value says
 * most; where no branch looked inside, the union stays and names what its branches wanted.
 */
const mergeUnion = (errors: readonly ErrorObject[], union: ErrorObject): readonly ErrorObject[] => {
  const at = (error: ErrorObject): boolean => error.instancePath === union.instancePath;
  const isInside = errors.some(({ instancePath }) => instancePath.startsWith(`${union.instancePath}/`));
  if (isInside) return errors.filter((error) => !at(error));
  const branches = errors
    .filter((error) => at(error) && !isUnion(error))
    .map((error) => ruleOf(error).replace(/^be /, ''));
  const merged = { ...union, message: branches.length > 0 ? `be ${branches.join(' or ')}` : 'have one of its forms' };
  return [...errors.filter((error) => !at(error)), merged];
};

const problemOf = (error: ErrorObject): SchemaProblem => {
  const at = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'required') {
    const missing = String(error.params['missingProperty']);
    return { key: at === '' ? missing : `${at}.${missing}`, value: null, rule: 'be given' };
  }
  return { key: at, value: shortJson(error.data), rule: ruleOf(error) };
};

const ruleOf = ({ keyword, params, schema, message }: ErrorObject): string => {
  switch (keyword) {
    case 'type':
      return `be ${[schema].flat().join(' or ')}`;
    case 'enum':
      return `be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'const':
      return `be ${JSON.stringify(params['allowedValue'])}`;
    default:
      return (message ?? `pass "${keyword}"`).replace(/^must /, '');
  }
};
