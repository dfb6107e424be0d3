import { toWire } from '../../runtime/wire-error.js';
import { readTextConfigs } from '../text-configs.js';
import { CheckedTokenizer } from './checked-tokenizer.js';
import type { KeptTokenizer } from './kept-tokenizer.js';
import { loadTokenizer, type LoadedTokenizer } from './load-tokenizer.js';
import type { Answered, Asked, OpenedTokenizer, TokenizerOrder } from './tokenizer-protocol.js';

/**
 * Loads the tokenizer of a folder into this thread, which it blocks meanwhile, and answers the questions of a
 * `ThreadTokenizer` at the port. The port does not keep the process alive. `kept`: of the orders before.
 */
export const serveTokenizer = ({ directory, port }: TokenizerOrder, kept?: KeptTokenizer): void => {
  const loading = loadTokenizerOf(directory, kept);
  // Told to whoever asks.
  loading.catch(() => undefined);
  port.on('message', (asked: Asked) => {
    void answerTo(asked, loading).then((answered) => {
      port.postMessage(answered);
      if (asked.flag === null) return;
      Atomics.store(asked.flag, 0, 1);
      Atomics.notify(asked.flag, 0);
    });
  });
  port.unref();
};

const loadTokenizerOf = async (directory: string, kept?: KeptTokenizer): Promise<LoadedTokenizer> => {
  const { tokenizerConfig, rows } = await readTextConfigs(directory);
  return loadTokenizer(directory, tokenizerConfig, rows, { kept });
};

const answerTo = async (asked: Asked, loading: Promise<LoadedTokenizer>): Promise<Answered> => {
  const { id } = asked;
  try {
    return { id, value: await answer(asked, await loading) };
  } catch (error) {
    return { id, error: toWire(error) };
  }
};

const answer = ({ name, request }: Asked, loaded: LoadedTokenizer): unknown => {
  const { tokenizer } = loaded;
  switch (name) {
    case 'open':
      return opened(loaded);
    case 'encode':
      return tokenizer.encode(request.text, request.options);
    case 'decode':
      return tokenizer.decode(request.ids, request.options);
    case 'tokens':
      return Array.from({ length: request.count }, (_, index) => tokenizer.tokenOf(request.first + index));
    case 'idOf':
      return tokenizer.idOf(request.token);
    case 'join':
      return tokenizer instanceof CheckedTokenizer ? tokenizer.join(request.tokens) : '';
  }
};

const opened = ({ source, tokens, warnings, tokenizer }: LoadedTokenizer): OpenedTokenizer | null => {
  if (source === null || !(tokenizer instanceof CheckedTokenizer)) return null;
  const { vocabSize, facts } = tokenizer;
  return { source, tokens, warnings, vocabSize, facts };
};
