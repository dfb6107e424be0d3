import { totalmem } from 'node:os';
import type { Registry } from '@kvad/arch-registry';
import type { CliLs } from '@kvad/schemas';
import { formatBytes } from '../io/quantities.js';

/** Whether a model runs here: the best precision that fits, or why not. */
export type Runs = CliLs['models'][number]['runs'];

/** What is known of a model without its weights. */
export interface ModelOutline {
  readonly modelType: string | null;
  /** null: nobody knows. */
  readonly parameters: number | null;
  /** Of the weights as they are stored; null: nobody knows. */
  readonly storedBytes: number | null;
}

/** Bytes of memory: of the machine, or of the container where that is less. */
export const totalMemory = (): number => {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
};

/** The part of the memory that weights may take; the rest is for state, scratch and everybody else. */
const SHARE = 0.9;

/** Bytes a weight, the scale of its block of 32 included. */
const BYTES = { q8: 34 / 32, q4: 18 / 32 } as const;

export const runsHere = (
  { modelType, parameters, storedBytes }: ModelOutline,
  registry: Pick<Registry, 'modelTypes'>,
  memory: number = totalMemory(),
): Runs => {
  const no = (reason: string): Runs => ({ able: false, precision: null, reason });
  if (modelType === null) return no('its config names no model_type');
  if (!registry.modelTypes.has(modelType)) return no(`no plugin knows ${modelType}`);
  if (parameters === null || storedBytes === null) return { able: true, precision: null, reason: 'size unknown' };
  const room = memory * SHARE;
  if (storedBytes <= room) return { able: true, precision: 'as stored', reason: null };
  if (parameters * BYTES.q8 <= room) return { able: true, precision: 'q8', reason: null };
  const smallest = parameters * BYTES.q4;
  if (smallest <= room) return { able: true, precision: 'q4', reason: null };
  return no(`${formatBytes(Math.round(smallest))} at q4, ${formatBytes(memory)} here`);
};

export const runsWords = ({ able, precision, reason }: Runs): string =>
  able ? (precision ?? `? (${reason ?? ''})`) : `no: ${reason ?? ''}`;

/** `model_type` of a config, or that of the text model inside it if only that one is known. */
export const modelTypeIn = (config: unknown, known: Pick<Registry, 'modelTypes'>): string | null => {
  const { model_type: outer, text_config: text } = (config ?? {}) as { model_type?: unknown; text_config?: unknown };
  const { model_type: inner } = (text ?? {}) as { model_type?: unknown };
  const names = [outer, inner].filter((name) => typeof name === 'string');
  return names.find((name) => known.modelTypes.has(name)) ?? names[0] ?? null;
};
