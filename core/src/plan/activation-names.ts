import type { PartPlan } from '@kvad/schemas';
import { refuseConfig } from './config-refusal.js';

/**
 * Names of activation functions in published configs, and the part that computes each. `gelu` is the erf form; the
 * tanh forms differ in the last bit of their constant only.
 */
const KINDS: Readonly<Record<string, string>> = {
  silu: 'silu',
  swish: 'silu',
  gelu: 'gelu',
  gelu_python: 'gelu',
  gelu_new: 'gelu_tanh',
  gelu_fast: 'gelu_tanh',
  gelu_accurate: 'gelu_tanh',
  gelu_pytorch_tanh: 'gelu_tanh',
  gelu_python_tanh: 'gelu_tanh',
  quick_gelu: 'quick_gelu',
  relu: 'relu',
  relu2: 'relu2',
  tanh: 'tanh',
  sigmoid: 'sigmoid',
  linear: 'identity',
  xielu: 'xielu',
};

/** The activation part of a config's value (`hidden_act` unless `key` says otherwise). */
export const activationOf = (name: string, key = 'hidden_act'): PartPlan => {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  return kind === undefined
    ? refuseConfig(key, name, `is not an activation that kvad knows: ${Object.keys(KINDS).join(', ')}`)
    : { kind, options: {} };
};
