import path from 'node:path';
import type { ModelFacts } from '@kvad/core';
import { colorsFor } from '../io/colors.js';
import { writeLine, type Io } from '../io/io.js';
import { formatBytes, formatCount, formatSeconds } from '../io/quantities.js';
import { BUNDLED_MODEL, type FoundModel } from '../model-folder.js';

/** What was loaded, on a terminal only. */
export const showBanner = async (io: Io, found: FoundModel, facts: ModelFacts): Promise<void> => {
  if (io.stderr.isTTY !== true) return;
  const { dim } = colorsFor(io, io.stderr);
  for (const line of bannerLines(found, facts)) await writeLine(io.stderr, dim(line));
};

/**
 * `owner/name · family · 135 M parameters · q8 · native kernels · 2 threads`
 * `  context 8192 tokens · weights 148 MB + 23.0 KB a token (f16 KV cache) · loaded in 0.41s`
 */
export const bannerLines = ({ id, folder }: FoundModel, facts: ModelFacts): string[] => {
  const name = id ?? (folder === BUNDLED_MODEL ? 'the bundled model' : path.basename(folder));
  const { plan, parameters, quant, kernels, threads, weightBytes, stateBytesPerToken, kvCacheDtype } = facts;
  const first = [name, plan.family, `${formatCount(parameters)} parameters`, quant ?? 'as stored'];
  return [
    [...first, `${kernels} kernels`, `${threads} ${threads === 1 ? 'thread' : 'threads'}`].join(' · '),
    [
      `  context ${plan.contextLength} tokens`,
      `weights ${formatBytes(weightBytes)} + ${formatBytes(stateBytesPerToken)} a token (${kvCacheDtype} KV cache)`,
      `loaded in ${formatSeconds(facts.loadMilliseconds)}`,
    ].join(' · '),
  ];
};
