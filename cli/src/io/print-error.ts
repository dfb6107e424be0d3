import { isKvadError, KvadError } from '@kvad/core/errors';
import type { CliError } from '@kvad/schemas';
import type { Colors } from './colors.js';
import type { Io } from './io.js';
import { writeLine } from './io.js';

/** Any error as one of the catalogue; what nobody expected becomes KVAD_E_INTERNAL. */
export const asKvadError = (error: unknown): KvadError =>
  isKvadError(error)
    ? error
    : new KvadError(
        'KVAD_E_INTERNAL',
        { reason: error instanceof Error ? `${error.name}: ${error.message}` : String(error) },
        { cause: error },
      );

export const errorObject = (error: KvadError): CliError => ({
  object: 'kvad.error',
  code: error.code,
  message: error.message,
  hint: error.hint,
  docs: error.docs,
});

/** `error: …`, `  hint: …`, `  docs: …` on stderr; with `--json` one line of JSON instead. */
export const printError = async (
  io: Io,
  thrown: unknown,
  options: { json: boolean; debug: boolean; colors: Colors },
): Promise<void> => {
  const error = asKvadError(thrown);
  if (options.json) {
    await writeLine(io.stderr, JSON.stringify(errorObject(error)));
  } else {
    const { colors } = options;
    await writeLine(io.stderr, `${colors.red('error:')} ${error.message}`);
    await writeLine(io.stderr, `  ${colors.dim('hint:')} ${error.hint}`);
    await writeLine(io.stderr, `  ${colors.dim('docs:')} ${error.docs} (${error.code})`);
  }
  if (options.debug) for (const stack of stacks(error)) await writeLine(io.stderr, stack);
};

const stacks = (error: KvadError): string[] => {
  const found: string[] = [];
  for (let at: unknown = error; at instanceof Error && found.length < 8; at = at.cause) {
    found.push(`${found.length === 0 ? '' : 'caused by '}${at.stack ?? at.message}`);
  }
  return found;
};
