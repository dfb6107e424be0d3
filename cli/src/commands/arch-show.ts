import {
  gatherParts,
  PartRegistry,
  planSlots,
  type PlannedModel,
  type SlotRule,
  type Transform,
  type WeightRule,
} from '@kvad/core';
import type { Registry, ResolvedFamily } from '@kvad/arch-registry';
import type { CliArchShow, ShownWeight } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { textTable } from '../io/text-table.js';
import type { Action } from './actions.js';
import { configKeys } from './config-keys.js';
import { openRegistry } from './open-registry.js';
import { kindsOfAxis, planDefaults } from './planned-model.js';

/** `kvad arch show TYPE`: what a family says of itself. */
export const archShow: Action<'arch show'> = async (io, { args, options }) => {
  const registry = openRegistry(io, options.plugin);
  const shown = await describe(registry, await registry.family(args.type));
  if (options.json) await writeJson(io.stdout, shown);
  else await writeLine(io.stdout, page(shown));
  return 0;
};

const describe = async (registry: Registry, resolved: ResolvedFamily): Promise<CliArchShow> => {
  const { family, plugin, schemas } = resolved;
  const planned = planDefaults(resolved);
  const { name, version, origin, directory } = plugin.found;
  return {
    object: 'kvad.arch-show',
    architecture: family.modelTypes[0] ?? resolved.modelType,
    model_types: [...family.modelTypes],
    about: family.about,
    reference: family.reference,
    plugin: { name, version, origin, directory },
    mixers: planned && kindsOfAxis(planned, 'mixer'),
    ffns: planned && kindsOfAxis(planned, 'ffn'),
    config: {
      ...configKeys(schemas, family.config.schema),
      inert: Object.entries(family.config.inert ?? {}).map(([key, reason]) => ({ key, reason })),
    },
    ...weightsOf(planned, planned === null ? new Set() : await slotsOf(registry, planned)),
  };
};

/** The slots of a plan, as weight rules spell them. */
const slotsOf = async (registry: Registry, { plan }: PlannedModel): Promise<ReadonlySet<string>> => {
  const parts = await gatherParts(plan, registry, (plugins) => PartRegistry.of(plugins));
  return new Set(planSlots(plan, parts).map(({ pattern }) => pattern));
};

const weightsOf = (
  planned: PlannedModel | null,
  used: ReadonlySet<string>,
): Pick<CliArchShow, 'weights' | 'unneeded' | 'weights_of'> => {
  const rules = planned?.rules ?? [];
  return {
    weights: rules.filter(isSlotRule).map((rule) => shownWeight(rule, used.has(rule.slot))),
    unneeded: rules.flatMap((rule) => (isSlotRule(rule) ? [] : [{ pattern: rule.unneeded, reason: rule.reason }])),
    weights_of: planned ? 'the default config' : 'nothing: the schema of this family asks for keys; see kvad arch plan',
  };
};

const isSlotRule = (rule: WeightRule): rule is SlotRule => 'slot' in rule;

const shownWeight = ({ slot, sources }: SlotRule, used: boolean): ShownWeight => ({
  slot,
  used,
  sources: distinct(
    sources.map(({ tensors, transform }) => ({
      tensors: typeof tensors === 'string' ? [tensors] : [...tensors],
      transform: transform.map(transformWords),
    })),
  ),
});

const distinct = <T>(values: readonly T[]): T[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

/** `{op: 'rows', start: 0, count: 64}` -> `rows start=0 count=64` */
const transformWords = ({ op, ...options }: Transform): string =>
  [op, ...Object.entries(options).map(([key, value]) => `${key}=${JSON.stringify(value)}`)].join(' ');

const page = (shown: CliArchShow): string =>
  [
    `${shown.architecture}: ${shown.about}`,
    textTable([
      ['  model_type', shown.model_types.join(', ')],
      ['  reference', shown.reference],
      ['  plugin', `${shown.plugin.name} ${shown.plugin.version} (${shown.plugin.origin})`],
      ['  mixer', shown.mixers?.join(', ') ?? 'by config'],
      ['  ffn', shown.ffns?.join(', ') ?? 'by config'],
    ]),
    `\nconfig.json: keys that are read (${shown.config.schema})`,
    textTable(shown.config.keys.map((key) => [`  ${key.key}`, key.type, defaultWords(key), key.about ?? ''])),
    ...section(
      'config.json: keys that change nothing here (kvad arch plan MODEL --audit tells of all)',
      shown.config.inert,
      ({ key, reason }) => [`  ${key}`, reason],
    ),
    ...weightSection(
      `weights of ${shown.weights_of}`,
      shown.weights.filter(({ used }) => used),
    ),
    ...weightSection(
      'weights with other values of config keys',
      shown.weights.filter(({ used }) => !used),
    ),
    ...section('tensors that are not needed', shown.unneeded, ({ pattern, reason }) => [`  ${pattern}`, reason]),
  ].join('\n');

const weightSection = (title: string, weights: readonly ShownWeight[]): string[] =>
  weights.length === 0
    ? []
    : [
        `\n${title}`,
        textTable(weights.flatMap(({ slot, sources }) => sources.map((source, i) => weightRow(slot, source, i)))),
      ];

const section = <T>(title: string, entries: readonly T[], cells: (entry: T) => string[]): string[] =>
  entries.length === 0 ? [] : [`\n${title}`, textTable(entries.map(cells))];

const defaultWords = (key: CliArchShow['config']['keys'][number]): string =>
  key.required ? 'required' : 'default' in key ? JSON.stringify(key.default) : '';

const weightRow = (slot: string, source: ShownWeight['sources'][number], index: number): string[] => [
  `  ${index === 0 ? slot : '  or'}`,
  source.tensors.join(' + '),
  source.transform.join(', '),
];
