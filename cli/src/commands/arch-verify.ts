import type { CliArchVerify, VerifyResult } from '@kvad/schemas';
import { fixtureDirectory, verifyCheckpoint, type LoadToVerify, type Verification } from '@kvad/core/testing';
import { createEngine } from '../index.js';
import { colorsFor } from '../io/colors.js';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { asKvadError } from '../io/print-error.js';
import { modelFolder, placesOf, type ModelPlaces } from '../model-folder.js';
import type { Action } from './actions.js';
import { interruptible } from './interruptible.js';
import { loadOptions } from './load-options.js';

/** `kvad arch verify DIR…`: one folder that fails or is refused does not stop the others. */
export const archVerify: Action<'arch verify'> = async (io, { args, options }) => {
  const load = { ...loadOptions(io, options), quant: 'f32', kvCacheDtype: 'f32' } as const;
  const settings = { plugins: options.plugin, workingDirectory: io.cwd };
  const engine = createEngine({ ...settings, env: io.env });
  const longhand = createEngine({ ...settings, env: { ...io.env, KVAD_CPU: 'reference' } });
  const open: LoadToVerify = (directory, { reference }) =>
    reference ? longhand.load(directory, { ...load, requireNative: false }) : engine.load(directory, load);
  try {
    const results: VerifyResult[] = [];
    for (const folder of args.folders) {
      const verifying = verifyFolder(folder, placesOf(io), open);
      const result: VerifyResult = { dir: folder, ...(await interruptible(io.interrupt, verifying)) };
      if (!options.json) await writeLine(io.stdout, resultLine(io, result));
      results.push(result);
    }
    const pass = results.every((result) => result.pass);
    if (options.json) await writeJson(io.stdout, { object: 'kvad.verify', pass, results } satisfies CliArchVerify);
    else await writeLine(io.stdout, `${results.filter((result) => result.pass).length} of ${results.length} passed`);
    return pass ? 0 : 1;
  } finally {
    await Promise.all([engine.close(), longhand.close()]);
  }
};

type Finding = Omit<VerifyResult, 'dir'>;

/** Weights that only a recipe describes are made first. What nobody expected is an entry too. */
const verifyFolder = async (folder: string, places: ModelPlaces, load: LoadToVerify): Promise<Finding> => {
  try {
    const directory = fixtureDirectory(modelFolder(folder, places));
    const { error, ...finding } = findingOf(await verifyCheckpoint(directory, load));
    // Made weights lie in a temporary folder, which the user has never heard of.
    return { ...finding, error: error && { ...error, message: error.message.replaceAll(directory, folder) } };
  } catch (thrown) {
    const { code, message } = asKvadError(thrown);
    return { ...NOTHING, error: { code, message } };
  }
};

const NOTHING = {
  family: null,
  model_type: null,
  positions: 0,
  max_abs_diff: null,
  argmax_agreement: null,
  greedy_equal: null,
  tolerance: null,
  consistency: null,
  pass: false,
} as const;

const findingOf = (found: Verification): Finding => ({
  family: found.family,
  model_type: found.modelType,
  positions: found.positions ?? 0,
  max_abs_diff: finiteOrNull(found.maxAbsDiff),
  argmax_agreement: found.argmaxAgreement,
  greedy_equal: found.greedyEqual,
  tolerance: found.tolerance,
  consistency: found.consistency && {
    finite: found.consistency.finite,
    chunks: finiteOrNull(found.consistency.chunks),
    truncation: finiteOrNull(found.consistency.truncation),
    kernels: finiteOrNull(found.consistency.kernels),
  },
  pass: found.pass,
  error: found.error,
});

/** JSON has no Infinity; null does not pass for a small difference. */
const finiteOrNull = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

const resultLine = (io: Io, result: VerifyResult): string => {
  const colors = colorsFor(io, io.stdout);
  const verdict = result.pass ? colors.green('pass') : colors.red('FAIL');
  if (result.error !== null) return `${verdict}  ${result.dir}  ${result.error.code}: ${result.error.message}`;
  if (result.consistency !== null) return consistencyLine(verdict, result, result.consistency);
  const difference = result.max_abs_diff?.toExponential(2) ?? 'not a number';
  return [
    verdict,
    result.dir,
    result.family ?? '',
    `${result.positions} positions`,
    `max |diff| ${difference} of ${result.tolerance?.toExponential(2) ?? '?'}`,
    `argmax ${(100 * (result.argmax_agreement ?? 0)).toFixed(1)} %`,
    `greedy ${result.greedy_equal === true ? 'equal' : 'differs'}`,
  ].join('  ');
};

const consistencyLine = (
  verdict: string,
  result: VerifyResult,
  { finite, chunks, truncation, kernels }: NonNullable<VerifyResult['consistency']>,
): string => {
  const far = (found: number | null): string => found?.toExponential(1) ?? 'not compared';
  return [
    verdict,
    result.dir,
    result.family ?? '',
    `${result.positions} positions, no reference: compared with itself`,
    finite ? 'finite' : 'NOT finite',
    `chunks ${far(chunks)}`,
    `cut back ${far(truncation)}`,
    `native against reference arithmetic ${far(kernels)}`,
  ].join('  ');
};
