import type { WeightAudit } from '../plan/audit.js';
import { isSlotRule, type WeightRule } from '../plan/weight-rules.js';
import type { BindRequest } from './binding.js';
import { collapseNames, spellRanges } from './collapse.js';
import { templatePattern } from './match.js';
import { shiftedPrefix } from './prefix.js';
import { quantisationOf } from './quantised.js';
import { EMBEDDING_SLOT, HEAD_SLOT } from './tied.js';

type Lists = Omit<WeightAudit, 'diagnosis'>;

/** What probably happened, in half a sentence; null where nothing is wrong. The first that fits is told. */
export const diagnoseWeights = (request: BindRequest, lists: Lists): string | null => {
  const { missing, unexpected, misshaped, partlyRead, unreadable } = lists;
  const wrong = missing.length + unexpected.length + misshaped.length + partlyRead.length + unreadable.length;
  if (wrong === 0) return null;
  return (
    adapter(request, lists) ??
    quantised(request) ??
    shifted(lists) ??
    layerCount(request, lists) ??
    tiedWithoutHead(request, lists) ??
    wholeLayers(request, lists) ??
    vocabulary(lists) ??
    everyLayer(request, lists) ??
    leftOutByConfig(request, lists) ??
    cutUpOtherwise(lists) ??
    inNumbers(request, lists)
  );
};

const adapter = ({ checkpoint }: BindRequest, { missing }: Lists): string | null =>
  missing.length > 0 && [...checkpoint.tensors.keys()].some((name) => /\.lora_[AB]\./.test(name))
    ? 'these are the weights of a LoRA adapter, not of a whole model'
    : null;

const quantised = ({ checkpoint }: BindRequest): string | null => {
  const scheme = quantisationOf(checkpoint.tensors.values());
  return scheme === null ? null : `the checkpoint is quantised (${scheme}), which kvad does not read yet`;
};

const shifted = ({ missing, unexpected }: Lists): string | null => {
  const shift = shiftedPrefix(missing, unexpected);
  if (shift === null) return null;
  const { expected, found } = shift;
  if (found === '') return `the tensor names lack the prefix "${expected}"`;
  if (expected === '') return `the tensor names begin with "${found}", where none is expected`;
  return `the tensor names begin with "${found}", where "${expected}" is expected`;
};

/** Layer numbers that the names of tensors have, by the templates of the weight map. */
const layersNamed = (rules: readonly WeightRule[], names: readonly string[]): number[] => {
  const templates = rules.filter(isSlotRule).flatMap(({ sources }) => sources.flatMap(({ tensors }) => tensors));
  const patterns = [...new Set(templates)].filter((name) => name.includes('{layer}')).map(templatePattern);
  return names.flatMap((name) => {
    const layer = patterns.map((pattern) => pattern.exec(name)?.[1]).find((digits) => digits !== undefined);
    return layer === undefined ? [] : [Number(layer)];
  });
};

const layerCount = ({ slots, rules }: BindRequest, { missing, unexpected }: Lists): string | null => {
  const planned = layersOf(slots);
  if (planned.size === 0) return null;
  const count = Math.max(...planned) + 1;
  const beyond = layersNamed(rules, unexpected).filter((layer) => layer >= count);
  if (beyond.length > 0) return `the checkpoint has ${maximum(beyond) + 1} layers, config.json says ${count}`;
  const empty = emptyLayers({ slots, missing });
  const first = empty[0];
  if (first === undefined || first === 0 || empty.length !== count - first) return null;
  return `the checkpoint has ${first} layers, config.json says ${count}`;
};

/** `Math.max` over more values than a call may have arguments. */
const maximum = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);

const layersOf = (slots: BindRequest['slots']): Set<number> =>
  new Set(slots.flatMap(({ layer }) => (layer === null ? [] : [layer])));

/** Layers of which every slot is missing, sorted. */
const emptyLayers = ({ slots, missing }: Pick<BindRequest, 'slots'> & Pick<Lists, 'missing'>): number[] => {
  const absent = new Set(missing.map(({ slot }) => slot));
  const alive = layersOf(slots.filter(({ name }) => !absent.has(name)));
  return [...layersOf(slots)].filter((layer) => !alive.has(layer)).sort((a, b) => a - b);
};

const tiedWithoutHead = ({ tied }: BindRequest, { missing }: Lists): string | null =>
  !tied && missing.length === 1 && missing[0]?.slot === HEAD_SLOT
    ? 'the model is not tied, but its checkpoint has no head: if it was published so, ' +
      'config.json needs "tie_word_embeddings": true'
    : null;

const wholeLayers = ({ slots }: BindRequest, { missing }: Lists): string | null => {
  const empty = emptyLayers({ slots, missing });
  if (empty.length === 0) return null;
  const whole = missing.every(({ slot }) => empty.some((layer) => slot.startsWith(`layers.${layer}.`)));
  if (!whole) return empty.length === layersOf(slots).size ? 'no tensor has a name that this family knows' : null;
  const [layers, have] = empty.length === 1 ? ['layer', 'has'] : ['layers', 'have'];
  return `${layers} ${spellRanges(empty)} ${have} no tensor at all: a part of the model was not downloaded or saved`;
};

const vocabulary = ({ misshaped }: Lists): string | null => {
  const embedding = misshaped.find(({ slot }) => slot === EMBEDDING_SLOT);
  if (embedding === undefined) return null;
  const [expected, ...expectedRest] = embedding.expected;
  const [found, ...foundRest] = embedding.found;
  if (expected === found || expectedRest.join() !== foundRest.join()) return null;
  return `the embedding has ${found} rows, config.json says ${expected} (vocab_size)`;
};

/** One kind of weight is absent from every layer that should have it. */
const everyLayer = ({ slots }: BindRequest, { missing, unexpected }: Lists): string | null => {
  const absent = new Set(missing.map(({ slot }) => slot));
  const patterns = [...new Set(slots.filter(({ name }) => absent.has(name)).map(({ pattern }) => pattern))];
  const inAll = patterns.filter((pattern) => {
    const same = slots.filter((slot) => slot.pattern === pattern);
    return same.length > 1 && same.every(({ name }) => absent.has(name));
  });
  if (unexpected.length > 0 || inAll.length === 0 || inAll.length !== patterns.length) return null;
  return `no layer has ${inAll.map((pattern) => pattern.replace('layers.{layer}.', '')).join(', ')}, which config.json asks for`;
};

/** Tensors that the family knows and this config has no slot for. */
const leftOutByConfig = ({ rules }: BindRequest, { missing, unexpected, misshaped }: Lists): string | null => {
  if (missing.length > 0 || misshaped.length > 0 || unexpected.length === 0) return null;
  const known = rules
    .filter(isSlotRule)
    .flatMap(({ slot, sources }) =>
      sources.flatMap(({ tensors }) => [tensors].flat().map((name) => ({ slot, pattern: templatePattern(name) }))),
    );
  const slots = unexpected.map((name) => known.find(({ pattern }) => pattern.test(name))?.slot);
  if (slots.some((slot) => slot === undefined)) return null;
  return `config.json leaves out ${collapseNames(slots.map(String)).join(', ')}, which the checkpoint has`;
};

const cutUpOtherwise = ({ missing, misshaped, partlyRead }: Lists): string | null => {
  const [first] = partlyRead;
  if (first === undefined || missing.length + misshaped.length > 0) return null;
  const { tensor, slots, read, elements } = first;
  const parts = collapseNames(slots).join(', ');
  return `${tensor} was stored for other sizes than config.json tells: ${parts} take ${read} of its ${elements} elements`;
};

/** Nothing in common was found: how much does fit. */
const inNumbers = ({ slots }: BindRequest, { missing, misshaped, unreadable }: Lists): string => {
  const amiss = missing.length + misshaped.length + unreadable.length;
  if (amiss === 0) return 'every weight of the model is there, and more';
  return `${Math.max(0, slots.length - amiss)} of ${slots.length} weights of the model are there and fit`;
};
