import type { RopeTablePlan } from '@kvad/schemas';
import { refuseConfig } from './config-refusal.js';
import { isGiven, sourceOf, type ConfigSource } from './config-source.js';
import { tableOf, type RopeOptions } from './rope-config.js';
import { isDictionary, RopeSettings } from './rope-settings.js';

/** One of several rotary tables of a model, by the name that `rope_parameters` gives it (`sliding_attention`). */
export interface NamedRope extends Omit<RopeOptions, 'contextLength'> {
  /** The older `rope_scaling` is meant for this table. */
  readonly scaled?: boolean;
}

/**
 * The rotary tables of a model that has several. The settings of each stand in `rope_parameters.<name>`; in older
 * files `rope_scaling` holds those of the tables marked `scaled`, and each table's theta has a key of its own at the
 * top (`keys.theta`: `rope_theta`, `rope_local_base_freq`). A table that the file sets to null is null: those layers
 * do not rotate. Flat settings in `rope_parameters` belong to no table and stay unread, so that the audit refuses them.
 */
export const ropeTablesOf = <N extends string>(
  config: object,
  tables: Readonly<Record<N, NamedRope>>,
): Record<N, RopeTablePlan | null> => {
  const source = sourceOf(config);
  const older = isDictionary(source, 'rope_scaling');
  const newer = isDictionary(source, 'rope_parameters');
  const named = Object.entries<NamedRope>(tables).map(([name, { scaled = false, ...options }]) => {
    const path = `rope_parameters.${name}`;
    if (source.stored(path) === null) {
      source.read(path);
      return [name, null] as const;
    }
    const dictionaries = [
      ...(older && scaled ? ['rope_scaling'] : []),
      ...(newer && isDictionary(source, path) ? [path] : []),
    ];
    if (dictionaries.includes('rope_scaling')) refuseOldType(source);
    const settings = new RopeSettings(source, dictionaries, false);
    if (!scaled && options.keys?.theta === undefined) refuseSharedTheta(source, path, options.defaultTheta);
    const table = tableOf(settings, options, []);
    if (table.type === 'yarn' && !table.truncate && dictionaries.includes(path)) {
      refuseConfig(
        settings.pathOf('truncate'),
        false,
        'is not looked for by the published implementation in a table of several',
      );
    }
    return [name, table] as const;
  });
  return Object.fromEntries(named) as Record<N, RopeTablePlan | null>;
};

/** `type` alone is read by some releases of the published code; the newer ones keep their default table beside it. */
const refuseOldType = (source: ConfigSource): void => {
  const [type, older] = ['rope_type', 'type'].map((key) => source.stored(`rope_scaling.${key}`));
  if (type === undefined && older !== undefined && older !== 'default')
    refuseConfig('rope_scaling.type', older, 'has an effect in some releases of the published code only');
};

/** Some releases of the published code use the theta outside for every table, the newer ones for the scaled one alone. */
const refuseSharedTheta = (source: ConfigSource, path: string, byDefault: number | undefined): void => {
  const [outside, own] = ['rope_theta', `${path}.rope_theta`].map((key) => source.stored(key));
  if (isGiven(outside) && !isGiven(own) && outside !== byDefault)
    refuseConfig('rope_theta', outside, `reaches ${path} in some releases of the published code only`);
};
