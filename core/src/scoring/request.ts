import { KvadError } from '../errors/kvad-error.js';
import type { PerplexityRequest } from './types.js';
import type { WindowSettings } from './windows.js';

const CTX = 512;
const TOP_K = 32;

/** What is scored of a window of `ctx`: below this nothing. */
const LEAST_CTX = { chunks: 3, sliding: 2 } as const;

/** The settings of a request with the defaults in their places. Throws KVAD_E_OPTION, KVAD_E_SCORING_CONTEXT. */
export const windowSettings = (request: PerplexityRequest, contextLength: number): WindowSettings => {
  const { method = 'chunks', ctx = CTX, stride, chunks } = request;
  oneOf('method', method, ['chunks', 'sliding']);
  whole('ctx', ctx, LEAST_CTX[method]);
  if (ctx > contextLength) throw new KvadError('KVAD_E_SCORING_CONTEXT', { ctx, contextLength });
  if (chunks !== undefined) whole('chunks', chunks, 1);
  if (stride !== undefined && method === 'chunks') {
    throw new KvadError('KVAD_E_OPTION', { option: 'stride', value: String(stride), expected: 'none with chunks' });
  }
  if (stride !== undefined) whole('stride', stride, 1, ctx);
  return { method, ctx, stride: method === 'sliding' ? (stride ?? ctx) : null, chunks: chunks ?? null };
};

/** A base output with the defaults in their places. Throws KVAD_E_OPTION. */
export const baseOutput = (
  { file, format = 'topk', topK, force = false }: NonNullable<PerplexityRequest['kldBaseOut']>,
  method: 'chunks' | 'sliding',
): { readonly file: string; readonly format: 'topk' | 'full'; readonly topK: number; readonly force: boolean } => {
  oneOf('kldFormat', format, ['topk', 'full']);
  if (format === 'full' && topK !== undefined) {
    throw new KvadError('KVAD_E_OPTION', { option: 'kldTopK', value: String(topK), expected: 'none with full' });
  }
  if (format === 'full' && method !== 'chunks') {
    throw new KvadError('KVAD_E_OPTION', { option: 'kldFormat', value: format, expected: `topk with ${method}` });
  }
  if (topK !== undefined) whole('kldTopK', topK, 1, TOP_K);
  return { file, format, topK: topK ?? TOP_K, force };
};

const whole = (option: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): void => {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new KvadError('KVAD_E_OPTION', { option, value: String(value), expected: `a whole number ${range}` });
};

const oneOf = (option: string, value: string, known: readonly string[]): void => {
  if (known.includes(value)) return;
  throw new KvadError('KVAD_E_OPTION', { option, value, expected: known.join(' or ') });
};
