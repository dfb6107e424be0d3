import { loadText } from '@kvad/core';
import type { CliTokenize } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { readStdin } from '../io/read-input.js';
import { textTable } from '../io/text-table.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { interruptible } from './interruptible.js';
import { findModel, namesOf, placesOf } from '../model-folder.js';

/** `kvad tokenize TEXT`: the ids of a raw prompt, without opening the weights. */
export const tokenize: Action<'tokenize'> = async (io, { args, options }) => {
  const text = args.text === '-' ? await interruptible(io.interrupt, readStdin(io)) : args.text;
  const found = findModel(options.model, placesOf(io), 'text');
  const side = await loadText(found.folder);
  const ids = await side.encodeText(text);
  for (const warning of [...found.warnings, ...side.warnings]) await warn(io, warning);
  const tokens = ids.map((id) => ({ id, token: side.tokenizer.tokenOf(id) }));
  if (options.json) {
    const { bos } = side.facts;
    await writeJson(io.stdout, {
      object: 'kvad.tokenize',
      ...namesOf(found),
      count: ids.length,
      ids,
      tokens,
      bos,
    } satisfies CliTokenize);
  } else if (tokens.length > 0) {
    await writeLine(io.stdout, textTable(tokens.map(({ id, token }) => [String(id), JSON.stringify(token)])));
  }
  return 0;
};
