import { rm } from 'node:fs/promises';
import path from 'node:path';
import { KvadError, type PerplexityRequest } from '@kvad/core';
import { writeJson, writeLine, type Io } from '../io/io.js';
import type { Action } from './actions.js';
import { loadOptions } from './load-options.js';
import { withModel } from './open-model.js';
import { readScoringInput } from './perplexity-input.js';
import { perplexityObject, perplexityPage } from './perplexity-report.js';
import { progressFile } from './perplexity-progress-file.js';
import { progressLine } from './perplexity-progress-line.js';
import type { Options } from './table.js';
import { withoutUndefined } from './without-undefined.js';
import { writeOutput } from './write-output.js';

/** `kvad perplexity FILE` */
export const perplexity: Action<'perplexity'> = async (io, { args, options }) => {
  refuseContradictions(args.file, options);
  const input = await readScoringInput(io, args.file, options);
  const choice = { model: options.model ?? null, plugins: options.plugin, load: loadOptions(io, options) };
  const progress = await progressFile(io, args.file, options);
  const request: PerplexityRequest = {
    ...{ input, tokenIds: options.tokenIds },
    ...{ ...windowFlags(options), ...baseFlags(io, options), ...progress },
  };
  await withModel(io, choice, async (model, names) => {
    const line = progressLine(io);
    try {
      const result = await model.perplexity(request, { signal: io.interrupt, onProgress: line.show });
      await line.clear();
      const object = perplexityObject(names, model.facts, result, options);
      if (options.output !== undefined) await writeOutput(io, options.output, object);
      if (options.json) await writeJson(io.stdout, object);
      else await writeLine(io.stdout, perplexityPage(object));
    } finally {
      await line.clear();
    }
    // The result is kept now: nothing is left to go on with.
    if (progress.progress !== undefined) await rm(progress.progress.file, { force: true });
  });
  return 0;
};

const refuseContradictions = (file: string | undefined, options: Options<'perplexity'>): void => {
  const refuse = (problem: string): never => {
    throw new KvadError('KVAD_E_USAGE', { problem, command: 'perplexity' });
  };
  const { tokens, kldBaseOut, kldFormat, kldTopK, method } = options;
  if ((file === undefined) === (tokens === undefined)) refuse('give a text file or --tokens FILE, one of them');
  if (tokens !== undefined && options.parseSpecial) refuse('--parse-special is about a text, not --tokens');
  if (options.stride !== undefined && method !== 'sliding') refuse('--stride needs --method sliding');
  const aboutBase = { '--kld-format': kldFormat, '--kld-top-k': kldTopK, '--force': options.force || undefined };
  for (const [flag, value] of Object.entries(aboutBase)) {
    if (value !== undefined && kldBaseOut === undefined) refuse(`${flag} needs --kld-base-out`);
  }
  if (kldFormat === 'full' && kldTopK !== undefined) refuse('--kld-top-k is not for --kld-format full');
  if (kldFormat === 'full' && method === 'sliding') refuse('--kld-format full holds chunks only');
};

const windowFlags = ({ method, ctx, stride, chunks }: Options<'perplexity'>) =>
  withoutUndefined({ method, ctx, stride, chunks });

const baseFlags = (io: Io, options: Options<'perplexity'>): Pick<PerplexityRequest, 'kld' | 'kldBaseOut'> => {
  const { kld, kldBaseOut, kldFormat, kldTopK, force } = options;
  return {
    ...(kld === undefined ? {} : { kld: path.resolve(io.cwd, kld) }),
    ...(kldBaseOut === undefined
      ? {}
      : {
          kldBaseOut: {
            file: path.resolve(io.cwd, kldBaseOut),
            force,
            ...withoutUndefined({ format: kldFormat, topK: kldTopK }),
          },
        }),
  };
};
