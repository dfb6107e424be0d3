import type { LoadedModel } from 'kvad';
import { VOCAB } from '../runtime/toy.js';

/** Figures of a comparison, each by its formula in double precision, from the logits of all rows. */

/** One scored token: ln p of all ids under both models, and the id that came. */
export interface LonghandToken {
  readonly p: readonly number[];
  readonly q: readonly number[];
  readonly target: number;
}

const logSoftmax = (logits: readonly number[]): number[] => {
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
  return logits.map((logit) => logit - Math.log(total));
};

/** ln p of the rows that predict `[firstTarget, end)`, of a window that is run alone. */
export const rowsOf = async (
  model: LoadedModel,
  ids: readonly number[],
  { begin, end, firstTarget }: { readonly begin: number; readonly end: number; readonly firstTarget: number },
): Promise<number[][]> => {
  const session = await model.session();
  const logits = await session.prefill(ids.slice(begin, end), { logits: 'all' });
  await session.close();
  return Array.from({ length: end - firstTarget }, (_, index) => {
    const row = firstTarget - 1 - begin + index;
    return logSoftmax([...logits.slice(row * VOCAB, (row + 1) * VOCAB)]);
  });
};

/** Likeliest first; of equal ones the lower id first. */
const ranking = (logprobs: readonly number[]): number[] =>
  logprobs.map((_, id) => id).sort((a, b) => logprobs[b]! - logprobs[a]! || a - b);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const error = (values: readonly number[]): number => {
  const center = mean(values);
  return Math.sqrt(sum(values.map((value) => (value - center) ** 2)) / values.length / (values.length - 1));
};

/** Position f (n - 1) of the sorted values, linear between neighbours. */
const at = (values: readonly number[], f: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const position = f * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!];
  return low + (high - low) * (position % 1);
};

/** Σ over the k likeliest ids of the base and the rest as one outcome; k = vocabulary: the whole divergence. */
export const divergence = ({ p, q }: LonghandToken, k: number): number => {
  const term = (logP: number, logQ: number): number => Math.exp(logP) * (logP - logQ);
  const order = ranking(p);
  const rest = (values: readonly number[]): number => Math.log(sum(order.slice(k).map((id) => Math.exp(values[id]!))));
  const top = sum(order.slice(0, k).map((id) => term(p[id]!, q[id]!)));
  return k === p.length ? top : top + term(rest(p), rest(q));
};

/** Each field of `kld` in the JSON that is a figure. */
export const figures = (tokens: readonly LonghandToken[], k: number): Record<string, number | null> => {
  const nll = tokens.map(({ q, target }) => -q[target]!);
  const baseNll = tokens.map(({ p, target }) => -p[target]!);
  const kld = tokens.map((token) => divergence(token, k));
  const deltaP = tokens.map(({ p, q, target }) => Math.exp(q[target]!) - Math.exp(p[target]!));
  const logRatio = nll.map((value, index) => value - baseNll[index]!);
  const same = tokens.map(({ p, q }): number => (ranking(p)[0] === ranking(q)[0] ? 1 : 0));
  const n = tokens.length;
  const [mq, mp] = [mean(nll), mean(baseNll)];
  const covariance = sum(nll.map((value, index) => (value - mq) * (baseNll[index]! - mp))) / n / (n - 1);
  const squares = deltaP.map((value) => value * value);
  const rms = Math.sqrt(mean(squares));
  const [pplQ, pplP] = [Math.exp(mq), Math.exp(mp)];
  const fractions = {
    p99_9: 0.999,
    p99: 0.99,
    p95: 0.95,
    p90: 0.9,
    median: 0.5,
    p10: 0.1,
    p5: 0.05,
    p1: 0.01,
    p0_1: 0.001,
  };
  const percentiles = (name: string, values: readonly number[], more: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries({ ...fractions, ...more, max: 1, min: 0 }).map(([at_, f]) => [`${name}_${at_}`, at(values, f)]),
    );
  return {
    mean_nll: mq,
    mean_nll_uncertainty: error(nll),
    base_mean_nll: mp,
    base_mean_nll_uncertainty: error(baseNll),
    perplexity: pplQ,
    perplexity_uncertainty: pplQ * error(nll),
    base_perplexity: pplP,
    base_perplexity_uncertainty: pplP * error(baseNll),
    delta_perplexity: pplQ - pplP,
    delta_perplexity_uncertainty: Math.sqrt(
      (pplQ * error(nll)) ** 2 + (pplP * error(baseNll)) ** 2 - 2 * pplQ * pplP * covariance,
    ),
    perplexity_ratio: pplQ / pplP,
    perplexity_ratio_uncertainty: (pplQ / pplP) * error(logRatio),
    mean_log_ratio: mean(logRatio),
    mean_log_ratio_uncertainty: Math.sqrt(error(nll) ** 2 + error(baseNll) ** 2 - 2 * covariance),
    correlation: covariance / (error(nll) * error(baseNll)),
    mean_kld: mean(kld),
    mean_kld_uncertainty: error(kld),
    ...percentiles('kld', kld, {}),
    mean_delta_p: mean(deltaP),
    mean_delta_p_uncertainty: error(deltaP),
    ...percentiles('delta_p', deltaP, { p75: 0.75, p25: 0.25 }),
    rms_delta_p: rms,
    rms_delta_p_uncertainty: (0.5 / rms) * error(squares),
    same_top: mean(same),
    same_top_uncertainty: Math.sqrt((mean(same) * (1 - mean(same))) / (n - 1)),
    mean_base_top_mass: mean(
      tokens.map(({ p }) =>
        sum(
          ranking(p)
            .slice(0, k)
            .map((id) => Math.exp(p[id]!)),
        ),
      ),
    ),
  };
};
