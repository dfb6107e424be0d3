import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  availableMemory,
  checkModelFolder,
  HubClient,
  hubSettings,
  isKvadError,
  kernelFacts,
  machineFacts,
  quantCacheFolder,
  ReadBandwidth,
} from '@kvad/core';
import type { CliDoctor } from '@kvad/schemas';
import { readDefaultModel } from '../default-model.js';
import type { Io } from '../io/io.js';
import { formatBytes } from '../io/quantities.js';
import { BUNDLED_MODEL, findModel, placesOf } from '../model-folder.js';
import { totalMemory } from './fits.js';
import { openRegistry } from './open-registry.js';

export type Check = CliDoctor['checks'][number];

/** All checks, in the order in which they are shown. */
export const examine = async (io: Io, plugins: readonly string[]): Promise<Check[]> => [
  node(process.versions.node),
  cpu(),
  ...arithmetic(io),
  memory(io),
  bundledModel(),
  defaultModel(io),
  await guarded('model cache', () => folder('model cache', hubSettings(io.env).cache)),
  folder('quant cache', quantCacheFolder(io.env)),
  await guarded('plugins', () => pluginCheck(io, plugins)),
  await guarded('hub', () => hub(io)),
];

const check = (name: string, state: Check['state'], found: string, hint: string | null = null): Check => ({
  ...{ name, state, found, hint },
});

/** An error of the catalogue is what the check found. */
const guarded = async (name: string, look: () => Check | Promise<Check>): Promise<Check> => {
  try {
    return await look();
  } catch (error) {
    if (!isKvadError(error)) throw error;
    return check(name, 'broken', error.message, error.hint);
  }
};

/** The oldest Node that is tested. */
const OLDEST = [20, 19];

const node = (version: string): Check => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST;
  const old = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  const found = `${version}, ${process.platform} ${process.arch}`;
  return old ? check('node', 'broken', found, `install Node ${OLDEST.join('.')} or later`) : check('node', 'ok', found);
};

/** Instruction sets that kernels are written for, as Linux names them. */
const FEATURES = ['avx2', 'fma', 'f16c', 'avx_vnni', 'avx512f', 'avx512_vnni', 'avx512_bf16', 'asimddp', 'i8mm'];

const cpu = (): Check => {
  const { cpu: model, processors } = machineFacts();
  const file = '/proc/cpuinfo';
  const words = existsSync(file) ? new Set(readFileSync(file, 'utf8').split(/\s+/)) : new Set<string>();
  const has = FEATURES.filter((name) => words.has(name));
  return check(
    'cpu',
    'ok',
    [`${model}, ${processors} processors`, ...(has.length > 0 ? [has.join(' ')] : [])].join(', '),
  );
};

const arithmetic = (io: Io): Check[] => {
  const { kernels, available, threads, warnings } = kernelFacts(io.env);
  const known = [...available, 'reference'];
  const found = `${kernels} of ${known.join(', ')}`;
  const kernelCheck = !known.includes(kernels)
    ? check(
        'kernels',
        'broken',
        `KVAD_CPU asks for ${kernels}, this machine runs ${known.join(', ')}`,
        'unset KVAD_CPU',
      )
    : available.length === 0
      ? check(
          'kernels',
          'warning',
          found,
          'install a C++ compiler and reinstall kvad: the reference arithmetic is slow',
        )
      : warnings.length > 0
        ? check('kernels', 'warning', `${found}; ${warnings.join('; ')}`, 'report this with the name of the processor')
        : check('kernels', 'ok', found);
  return [kernelCheck, check('threads', 'ok', String(threads))];
};

const memory = (io: Io): Check => {
  const { threads } = kernelFacts(io.env);
  const free = availableMemory();
  const found = `${formatBytes(totalMemory())}, ${formatBytes(free)} free`;
  // The measurement itself holds 256 MB.
  const bandwidth = free > 2 ** 30 ? ReadBandwidth.open(threads) : null;
  if (bandwidth === null) return check('memory', 'ok', `${found}, bandwidth not measured`);
  try {
    const best = Math.max(...[0, 1, 2].map(() => bandwidth.measure()));
    return check('memory', 'ok', `${found}, read at ${formatBytes(Math.round(best))}/s by ${threads} threads`);
  } finally {
    bandwidth.close();
  }
};

const bundledModel = (): Check => {
  try {
    checkModelFolder(BUNDLED_MODEL);
    return check('bundled model', 'ok', BUNDLED_MODEL);
  } catch (error) {
    if (!isKvadError(error)) throw error;
    return check('bundled model', 'broken', error.message, 'reinstall kvad');
  }
};

const defaultModel = (io: Io): Check => {
  const chosen = readDefaultModel(io.env);
  if (chosen === null) return check('default model', 'ok', 'the bundled one');
  try {
    return check('default model', 'ok', `${chosen}, ${findModel(chosen, placesOf(io)).folder}`);
  } catch (error) {
    if (!isKvadError(error)) throw error;
    return check('default model', 'broken', `${chosen}: ${error.message}`, 'choose another with kvad use MODEL');
  }
};

/** A folder that kvad writes into; one that is not there yet is made when it is needed, if its parent allows it. */
const folder = (name: string, place: string): Check => {
  let at = place;
  while (!existsSync(at) && path.dirname(at) !== at) at = path.dirname(at);
  const hint = 'check its permissions, or set HF_HUB_CACHE or XDG_CACHE_HOME to a folder of yours';
  if (!statSync(at).isDirectory()) return check(name, 'broken', `${at} is a file, not a folder`, hint);
  try {
    accessSync(at, constants.W_OK);
  } catch {
    return check(name, 'broken', `${at} cannot be written`, hint);
  }
  return check(name, 'ok', at === place ? place : `${place} (not there yet)`);
};

const pluginCheck = (io: Io, plugins: readonly string[]): Check => {
  const registry = openRegistry(io, plugins);
  const found = `${registry.plugins.length} plugins with ${registry.modelTypes.size} model types`;
  const problems = [
    ...registry.broken.map(({ name, reason }) => `${name} is left out: ${reason}`),
    ...registry.conflicts.map(({ error }) => error.message),
  ];
  if (problems.length === 0) return check('plugins', 'ok', found);
  return check('plugins', 'warning', `${found}; ${problems.join('; ')}`, 'kvad arch tells more');
};

/** No network is no fault of this installation. */
const hub = async (io: Io): Promise<Check> => {
  const settings = hubSettings(io.env);
  const token = settings.token() === null ? 'no token' : 'with a token';
  if (settings.offline) return check('hub', 'skipped', `${settings.endpoint}, HF_HUB_OFFLINE is set`);
  try {
    const milliseconds = await new HubClient(settings, { signal: io.interrupt }).ping();
    return check('hub', 'ok', `${settings.endpoint} answers in ${Math.round(milliseconds)} ms, ${token}`);
  } catch (error) {
    if (!isKvadError(error)) throw error;
    return check('hub', 'warning', error.message, error.hint);
  }
};
