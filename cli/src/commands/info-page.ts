import type { CliInfo } from '@kvad/schemas';
import { formatBytes, formatCount } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';

/** `kvad info` for people. */
export const infoPage = (info: CliInfo): string =>
  [
    `${info.model}`,
    textTable([...familyRows(info), ...sizeRows(info), ...textRows(info.text), ...samplingRows(info)]),
  ].join('\n');

const familyRows = ({ family, model_type, about, plugin, shape }: CliInfo): string[][] => [
  ['  family', `${family} (model_type ${model_type}): ${about}`],
  ['  plugin', `${plugin.name} ${plugin.version} (${plugin.origin})`],
  ['  layers', `${shape.layers}: ${ops(shape.mixers)} mixers, ${ops(shape.ffns)} feed-forwards`],
  ['  hidden size', String(shape.hidden_size)],
  ['  vocabulary', String(shape.vocab_size)],
  ['  context', `${shape.context_length} tokens`],
];

export const ops = (kinds: CliInfo['shape']['mixers']): string =>
  kinds.map(({ kind, count }) => `${count} ${kind}`).join(' + ');

const sizeRows = ({ parameters, stored, memory, state }: CliInfo): string[][] => [
  ['  parameters', `${formatCount(parameters.total)}, ${formatCount(parameters.active)} active per token`],
  [
    '  stored',
    `${formatBytes(stored.bytes)} in ${stored.files} file${stored.files === 1 ? '' : 's'} (${dtypes(stored)})`,
  ],
  [
    '  memory',
    Object.entries(memory)
      .map(([precision, bytes]) => `${precision} ${formatBytes(bytes)}`)
      .join(' · '),
  ],
  ['  state', stateWords(state)],
];

export const dtypes = ({ dtypes: bytes }: CliInfo['stored']): string =>
  Object.entries(bytes)
    .map(([dtype, size]) => `${dtype} ${formatBytes(size)}`)
    .join(', ');

export const stateWords = (state: CliInfo['state']): string =>
  [
    `${formatBytes(state.bytes_per_token)} per token`,
    ...(state.fixed_bytes > 0 ? [`${formatBytes(state.fixed_bytes)} fixed`] : []),
    `${formatBytes(state.bytes_at_full_context)} at full context (${state.kv_cache_dtype} KV cache)`,
  ].join(' · ');

const textRows = (text: CliInfo['text']): string[][] => {
  if (text === null) return [];
  const { tokenizer, template, eos, bos } = text;
  const name = ({ id, token }: { id: number; token: string | null }): string => `${token ?? ''} ${id}`.trim();
  return [
    ['  tokenizer', tokenizer ?? 'none'],
    ['  chat template', template ?? 'none: a base model'],
    [
      '  end of text',
      eos.length === 0 ? 'none known' : eos.map((token) => `${name(token)} (${token.source})`).join(', '),
    ],
    ['  begin of text', bos === null ? 'none' : `${bos.id}${bos.added ? ', added before raw text' : ', not added'}`],
  ];
};

const samplingRows = ({ sampling }: CliInfo): string[][] => [
  [
    '  sampling',
    Object.entries(sampling)
      .map(([name, { value, source }]) => `${name} ${value} (${source})`)
      .join(', '),
  ],
];
