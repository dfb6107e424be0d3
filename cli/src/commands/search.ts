import { cachedModel, HubClient, hubSettings, type HubListing } from '@kvad/core';
import type { Registry } from '@kvad/arch-registry';
import type { CliSearch } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { formatBytes, formatCount } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';
import type { Action } from './actions.js';
import { modelTypeIn, runsHere, runsWords, type Runs } from './fits.js';
import { openRegistry } from './open-registry.js';

const LIMIT = 20;

type Row = CliSearch['models'][number];

/** `kvad search QUERY`: what the Hub tells of models, beside what this build and this machine can do. */
export const search: Action<'search'> = async (io, { args, options }) => {
  const settings = hubSettings(io.env);
  const registry = openRegistry(io, options.plugin);
  const found = await new HubClient(settings, { signal: io.interrupt }).search(args.query, options.limit ?? LIMIT);
  const models = found.map((listing) => rowOf(listing, registry, cachedModel(settings.cache, listing.id) !== null));
  if (options.json) {
    await writeJson(io.stdout, { object: 'kvad.search', query: args.query, models } satisfies CliSearch);
  } else if (models.length === 0) {
    await writeLine(io.stdout, `no model of ${settings.endpoint} has ${JSON.stringify(args.query)} in its name`);
  } else {
    const able = models.filter(({ runs }) => runs.able).length;
    await writeLine(io.stdout, `${table(models)}\n\n${able} of ${models.length} run here`);
  }
  return 0;
};

const rowOf = (listing: HubListing, registry: Registry, inCache: boolean): Row => {
  const { id, downloads, gated, private: isPrivate, tags, config, parameters, files } = listing;
  const modelType = modelTypeIn(config, registry);
  const total = parameters && Object.values(parameters).reduce((sum, count) => sum + count, 0);
  const bytes = parameters && storedBytes(parameters);
  return {
    ...{ id, downloads, gated, private: isPrivate, parameters: total, bytes },
    model_type: modelType,
    kind: kindOf(config, tags),
    in_cache: inCache,
    runs: unreadable(files) ?? runsHere({ modelType, parameters: total, storedBytes: bytes }, registry),
  };
};

/** A model without weights that could be read: the files say so before anything is fetched. */
const unreadable = (files: readonly string[]): Runs | null =>
  files.some((file) => /^[^/]+\.safetensors$/.test(file))
    ? null
    : { able: false, precision: null, reason: 'no safetensors files' };

/** Bits of the dtypes that the Hub counts. */
const BITS: Readonly<Record<string, number>> = { F64: 64, I64: 64, F32: 32, I32: 32, F16: 16, BF16: 16, I16: 16 };

const storedBytes = (parameters: Readonly<Record<string, number>>): number =>
  Object.entries(parameters).reduce((sum, [dtype, count]) => sum + (count * (BITS[dtype] ?? 8)) / 8, 0);

const kindOf = (config: Readonly<Record<string, unknown>>, tags: readonly string[]): Row['kind'] => {
  const { chat_template: template } = (config['tokenizer_config'] ?? {}) as { chat_template?: unknown };
  const outside = config['chat_template_jinja'];
  return template != null || outside != null || tags.includes('conversational') ? 'instruct' : 'base';
};

const table = (rows: readonly Row[]): string =>
  textTable([
    ['MODEL', 'DOWNLOADS', 'SIZE', 'ARCHITECTURE', 'KIND', 'RUNS'],
    ...rows.map((row) => [
      row.id,
      formatCount(row.downloads),
      row.bytes === null ? '?' : formatBytes(row.bytes),
      row.model_type ?? '?',
      row.kind,
      [runsWords(row.runs), ...(row.gated ? ['gated'] : []), ...(row.in_cache ? ['downloaded'] : [])].join(', '),
    ]),
  ]);
