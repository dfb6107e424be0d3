import type { CliDoctor } from '@kvad/schemas';
import { colorsFor, type Colors } from '../io/colors.js';
import { writeJson, writeLine } from '../io/io.js';
import { textTable } from '../io/text-table.js';
import type { Action } from './actions.js';
import { examine } from './doctor-checks.js';

type Check = CliDoctor['checks'][number];

/** `kvad doctor`: exit code 1 if a check finds something broken. */
export const doctor: Action<'doctor'> = async (io, { options }) => {
  const checks = await examine(io, options.plugin);
  const broken = checks.some(({ state }) => state === 'broken');
  if (options.json) {
    await writeJson(io.stdout, { object: 'kvad.doctor', healthy: !broken, checks } satisfies CliDoctor);
  } else {
    await writeLine(io.stdout, page(checks, colorsFor(io, io.stdout)));
  }
  return broken ? 1 : 0;
};

const page = (checks: readonly Check[], colors: Colors): string => {
  const paint = { ok: colors.green, warning: colors.yellow, broken: colors.red, skipped: colors.dim };
  const lines = textTable(checks.map(({ name, state, found }) => [state, name, found])).split('\n');
  return lines
    .flatMap((line, index) => {
      const { state, hint } = checks[index]!;
      const painted = line.replace(state, paint[state](state));
      return hint === null ? [painted] : [painted, `         ${colors.dim('hint:')} ${hint}`];
    })
    .join('\n');
};
