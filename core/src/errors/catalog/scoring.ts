import { entry } from './entry.js';

/** Perplexity and KL divergence. */
export const SCORING_ERRORS = {
  KVAD_E_SCORING_TEXT_SHORT: entry<{ tokens: number; needed: number; method: string; ctx: number }>(
    (p) => `the text has ${p.tokens} tokens, ${p.method} with --ctx ${p.ctx} needs at least ${p.needed}`,
    (p) => (p.method === 'chunks' ? 'give a longer text or a smaller --ctx' : 'give a longer text'),
  ),
  KVAD_E_SCORING_CONTEXT: entry<{ ctx: number; contextLength: number }>(
    (p) => `windows of ${p.ctx} tokens do not fit the model's context of ${p.contextLength}`,
    (p) => `pass --ctx ${p.contextLength} or less`,
  ),
  KVAD_E_SCORING_RESUME: entry<{ file: string; what: string; before: string; now: string }>(
    (p) => `${p.file} is the progress of another run: its ${p.what} was ${p.before}, now it is ${p.now}`,
    'resume with the arguments of the run that was interrupted, or leave --resume out to begin anew',
  ),
  KVAD_E_KLD_BASE_INVALID: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is no base to compare with: ${p.reason}`,
    'write one with kvad perplexity FILE --kld-base-out BASE, or with llama-perplexity --kl-divergence-base',
  ),
  KVAD_E_KLD_BASE_VERSION: entry<{ file: string; version: number; known: number }>(
    (p) => `${p.file} is a base of format version ${p.version}, this kvad reads version ${p.known}`,
    'write the base again with this kvad, or compare with the kvad that wrote it',
  ),
  KVAD_E_KLD_BASE_TRUNCATED: entry<{ file: string; bytes: number; expected: number }>(
    (p) => `${p.file} has ${p.bytes} bytes, its header announces ${p.expected}`,
    'copy or write the base again',
  ),
  KVAD_E_KLD_BASE_OTHER: entry<{ file: string; what: string; base: string; run: string; hint: string }>(
    (p) => `${p.file} was made of something else: its ${p.what} is ${p.base}, that of this run is ${p.run}`,
    (p) => p.hint,
  ),
  KVAD_E_KLD_BASE_EXISTS: entry<{ file: string }>(
    (p) => `${p.file} exists and is not overwritten`,
    'pass --force to replace it, or choose another name',
  ),
} as const;
