import { KvadError, type SamplingOptions, type TextSide, type TokenLogprob } from '@kvad/core';

/** Token 0 is `a`, 1 is `b`, …; 26 to 31 are `0` to `5`. */
export const letter = (id: number): string => 'abcdefghijklmnopqrstuvwxyz012345'[id]!;

export const spell = (ids: readonly number[]): string => ids.map(letter).join('');

const read = (text: string): number[] => [...text].map((sign) => 'abcdefghijklmnopqrstuvwxyz012345'.indexOf(sign));

export interface FakeTextChoice {
  readonly ends?: readonly number[];
  readonly sampling?: Partial<SamplingOptions>;
  readonly template?: boolean;
  readonly tokenizer?: boolean;
  /** Pieces of this many tokens become visible together, as the bytes of a character do. */
  readonly together?: number;
}

/** A text side of one letter a token. */
export const fakeText = (choice: FakeTextChoice = {}): TextSide => {
  const { ends = [], sampling = {}, template = false, tokenizer = true, together = 1 } = choice;
  const missing = () => {
    throw new KvadError('KVAD_E_TOKENIZER_MISSING', { directory: 'somewhere', files: [] });
  };
  const stream = () => {
    let held = '';
    return {
      push: (id: number) => {
        held += letter(id);
        if (held.length < together) return '';
        const text = held;
        held = '';
        return text;
      },
      end: () => {
        const text = held;
        held = '';
        return text;
      },
    };
  };
  return {
    facts: {
      tokenizer: tokenizer ? 'tokenizer.json' : null,
      template: template ? 'chat_template.jinja' : null,
      eos: ends.map((id) => ({ id, token: letter(id), source: 'test' })),
      bos: null,
      sampling,
    },
    tokenizer: {
      vocabSize: 32,
      encode: (text) => Promise.resolve(read(text)),
      decode: (ids) => Promise.resolve(spell(ids)),
      stream: tokenizer ? stream : missing,
      tokenOf: letter,
      idOf: (token) => read(token)[0] ?? null,
    },
    template: template
      ? {
          source: 'chat_template.jinja',
          names: ['default'],
          render: ({ messages }) => messages.map(({ role, content }) => `${role[0]!}${String(content)}`).join(''),
        }
      : null,
    endIds: new Set(ends),
    warnings: [],
    encodeText: (text) => Promise.resolve(read(text)),
    encodeRendered: (text) => Promise.resolve(read(text)),
  };
};

/** log-softmax in double precision, longhand. */
export const logSoftmax = (logits: readonly number[]): number[] => {
  const max = Math.max(...logits);
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - max), 0);
  return logits.map((logit) => logit - max - Math.log(total));
};

export const likeliest = (logprobs: readonly number[], count: number): TokenLogprob[] =>
  logprobs
    .map((logprob, id) => ({ id, logprob }))
    .sort((a, b) => b.logprob - a.logprob || a.id - b.id)
    .slice(0, count);
