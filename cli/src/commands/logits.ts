import { existsSync } from 'node:fs';
import path from 'node:path';
import { KvadError, type LoadedModel } from '@kvad/core';
import type { CliLogits } from '@kvad/schemas';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { LogitsFile } from '../io/logits-file.js';
import { formatSeconds } from '../io/quantities.js';
import type { Action } from './actions.js';
import { loadOptions } from './load-options.js';
import { withModel } from './open-model.js';
import { runConfig } from './run-report.js';
import { readTokenFile } from './token-file.js';

const BATCH_SIZE = 512;

/** `kvad logits MODEL --tokens FILE --out FILE` */
export const logits: Action<'logits'> = async (io, { args, options }) => {
  const { tokens, out } = options;
  if (tokens === undefined || out === undefined) {
    const problem = `--${tokens === undefined ? 'tokens' : 'out'} FILE is needed`;
    throw new KvadError('KVAD_E_USAGE', { problem, command: 'logits' });
  }
  const ids = await readTokenFile(io, tokens);
  const batchSize = options.batchSize ?? BATCH_SIZE;
  const load = loadOptions(io, { ...options, batchSize, kvCacheDtype: options.kvCacheDtype ?? 'f32' });
  const choice = { model: args.model, plugins: options.plugin, load };

  await withModel(io, choice, async (model, names) => {
    const started = performance.now();
    const file = path.resolve(io.cwd, out);
    if (path.dirname(file) === model.facts.directory && existsSync(file)) {
      const problem = `--out ${out} is a file of the model, which it would replace`;
      throw new KvadError('KVAD_E_USAGE', { problem, command: 'logits' });
    }
    await writeLogits(io, model, ids, batchSize, file);
    const elapsed = performance.now() - started;
    const { facts } = model;
    if (options.json) {
      const result: CliLogits = {
        object: 'kvad.logits',
        ...names,
        family: facts.plan.family,
        model_type: facts.plan.modelType,
        tokens: ids.length,
        vocab_size: facts.plan.vocabSize,
        file,
        config: runConfig(facts, batchSize),
        elapsed_ms: elapsed,
        warnings: [...facts.warnings],
      };
      await writeJson(io.stdout, result);
    } else {
      const shape = `${ids.length} x ${facts.plan.vocabSize}`;
      await writeLine(io.stderr, `wrote ${shape} logits to ${out} in ${formatSeconds(elapsed)}`);
    }
  });
  return 0;
};

/** Chunk by chunk, so that memory holds the logits of one chunk only. */
const writeLogits = async (
  io: Io,
  model: LoadedModel,
  ids: readonly number[],
  chunk: number,
  file: string,
): Promise<void> => {
  const { plan, directory } = model.facts;
  const session = await model.session();
  const output = await LogitsFile.create(file, ids, plan.vocabSize, { model: directory, family: plan.family });
  try {
    for (let start = 0; start < ids.length; start += chunk) {
      const part = ids.slice(start, start + chunk);
      await output.append(await session.prefill(part, { logits: 'all', chunk, signal: io.interrupt }));
    }
    await output.finish();
  } catch (error) {
    await output.discard();
    throw error;
  } finally {
    await session.close();
  }
};
