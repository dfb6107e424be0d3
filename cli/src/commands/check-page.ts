import type { CliArchCheck } from '@kvad/schemas';
import { colorsFor } from '../io/colors.js';
import type { Io } from '../io/io.js';
import { formatBytes, formatCount } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';
import { dtypes, ops, stateWords } from './info-page.js';

/** `kvad arch check` for people: what the model is, what it costs, what stands against it, and the verdict. */
export const checkPage = (check: CliArchCheck, io: Io): string => {
  const { green, red } = colorsFor(io, io.stdout);
  const verdict = check.runs
    ? green('this build runs it')
    : red(`this build does not run it: ${check.problems.length} ${check.problems.length === 1 ? 'reason' : 'reasons'}`);
  return [
    check.model,
    textTable([...familyRows(check), ...costRows(check), ...configRows(check), ...weightRows(check)]),
    ...check.warnings.map((warning) => `  warning: ${warning}`),
    verdict,
    ...check.problems.flatMap(({ code, message, hint }) => [`  ${code}: ${message}`, `    hint: ${hint}`]),
  ].join('\n');
};

const familyRows = ({ family, model_type, about, plugin, shape }: CliArchCheck): string[][] => {
  if (family === null || plugin === null || shape === null) return [['  family', 'unknown']];
  return [
    ['  family', `${family} (model_type ${model_type}): ${about}`],
    ['  plugin', `${plugin.name} ${plugin.version} (${plugin.origin})`],
    ['  plan', `${shape.layers} layers: ${ops(shape.mixers)} mixers, ${ops(shape.ffns) || 'no'} feed-forwards`],
    ['  sizes', `hidden ${shape.hidden_size}, vocabulary ${shape.vocab_size}, context ${shape.context_length} tokens`],
  ];
};

const costRows = ({ parameters, memory, stored, state, bytes_read: read }: CliArchCheck): string[][] => [
  ...(parameters === null
    ? []
    : [['  parameters', `${formatCount(parameters.total)}, ${formatCount(parameters.active)} active per token`]]),
  ...(memory === null
    ? []
    : [
        [
          '  memory',
          Object.entries(memory)
            .map(([name, bytes]) => `${name} ${formatBytes(bytes)}`)
            .join(' · '),
        ],
      ]),
  ...(state === null ? [] : [['  state', stateWords(state)]]),
  ...(stored === null ? [] : [['  stored', `${formatBytes(stored.bytes)} (${dtypes(stored)})`]]),
  ...(read === null ? [] : [['  loaded', `${formatBytes(read)} of config, index and headers`]]),
];

const configRows = ({ config: { read, inert, refused }, family }: CliArchCheck): string[][] =>
  family === null ? [] : [['  config', `${read} keys read, ${inert} change nothing, ${refused.length} unknown`]];

const weightRows = ({ weights }: CliArchCheck): string[][] => {
  if (weights === null) return [];
  const { missing, unexpected, misshaped, partly_read: partly, unreadable, unneeded } = weights;
  const counts = { missing, unexpected, 'mis-shaped': misshaped, 'partly read': partly, unreadable };
  const words = Object.entries(counts).flatMap(([name, list]) => (list.length > 0 ? [`${list.length} ${name}`] : []));
  const rest = unneeded > 0 ? `; ${unneeded} not needed` : '';
  return [['  tensors', `${words.join(', ') || 'all in their place'}${rest}`]];
};
