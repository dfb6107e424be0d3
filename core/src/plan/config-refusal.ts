/**
 * A value of a config that is not planned. Thrown by families and by what reads configs for them, which do not know
 * the file; `planModel` makes KVAD_E_CONFIG_VALUE of it, with the file. The brand lets a plugin's own copy be known.
 */
export class ConfigRefusal extends Error {
  readonly $$type = 'kvad.config-refusal';
  constructor(
    /** Dotted: `rope_parameters.rope_type`. */
    readonly key: string,
    readonly value: unknown,
    /** Completes the sentence `"key": value …`: `is not an activation that kvad knows`. */
    readonly reason: string,
  ) {
    super(`"${key}": ${JSON.stringify(value)} ${reason}`);
    this.name = 'ConfigRefusal';
  }
}

export const isConfigRefusal = (error: unknown): error is ConfigRefusal =>
  error instanceof Error && (error as { $$type?: unknown }).$$type === 'kvad.config-refusal';

/** Refuses a value of the config: `refuseConfig('is_causal', false, 'makes an encoder of the model')`. */
export const refuseConfig = (key: string, value: unknown, reason: string): never => {
  throw new ConfigRefusal(key, value, reason);
};
