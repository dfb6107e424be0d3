/** Routers of one row in plain loops, as their papers define them: what the parts are held against. */
import type { SelectionOptions } from '../../../plugins/moe/dist/parts/selection.js';
import type { SoftmaxRule } from '../../../plugins/moe/dist/parts/softmax-router.js';

export interface Choice {
  readonly ids: readonly number[];
  readonly weights: readonly number[];
}

const f32 = Math.fround;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The `count` places of the largest values, one after another; of equal ones the first. */
const best = (values: readonly number[], count: number): number[] => {
  const taken: number[] = [];
  for (let round = 0; round < count; round++) {
    let at = -1;
    for (let i = 0; i < values.length; i++) if (!taken.includes(i) && (at < 0 || values[i]! > values[at]!)) at = i;
    taken.push(at);
  }
  return taken;
};

const softmax = (logits: readonly number[]): number[] => {
  const top = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - top));
  return powers.map((power) => f32(power / sum(powers)));
};

const masked = (choices: readonly number[], groups: SelectionOptions['groups']): readonly number[] => {
  if (groups === null) return choices;
  const size = choices.length / groups.count;
  const strengths = Array.from({ length: groups.count }, (_, g) => {
    const group = choices.slice(g * size, (g + 1) * size).sort((a, b) => b - a);
    return groups.by === 'max' ? group[0]! : f32(group[0]! + group[1]!);
  });
  const kept = best(strengths, groups.keep);
  const out = groups.masked === 'zero' ? 0 : -Infinity;
  return choices.map((choice, e) => (kept.includes(Math.floor(e / size)) ? choice : out));
};

const select = (
  scores: readonly number[],
  bias: readonly number[],
  perToken: number,
  { selectionBias, groups, normalise, scale }: SelectionOptions,
): Choice => {
  const choices = selectionBias ? scores.map((score, e) => f32(score + bias[e]!)) : scores;
  const ids = best(masked(choices, groups), perToken);
  const chosen = ids.map((e) => scores[e]!);
  const divisor =
    normalise.by === 'nothing'
      ? 1
      : normalise.by === 'sum'
        ? sum(chosen) + normalise.eps
        : Math.max(sum(chosen), normalise.floor);
  return { ids, weights: chosen.map((score) => scale * (score / divisor)) };
};

export const softmaxChoice = (
  logits: readonly number[],
  bias: readonly number[],
  perToken: number,
  rule: SoftmaxRule,
): Choice => {
  if (rule.order === 'softmax-then-top-k') return select(softmax(logits), bias, perToken, rule);
  const ids = best(logits, perToken);
  return { ids, weights: softmax(ids.map((e) => logits[e]!)) };
};

export const sigmoidChoice = (
  logits: readonly number[],
  bias: readonly number[],
  perToken: number,
  rule: SelectionOptions,
): Choice =>
  select(
    logits.map((logit) => f32(1 / (1 + Math.exp(-logit)))),
    bias,
    perToken,
    rule,
  );
