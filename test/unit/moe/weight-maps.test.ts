import { bindWeights, planSlots, type Checkpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../gates/sources.js';
import { parts, planOf } from './plugins.js';

/** A row of a list that names each kind of tensor once: `{L}` is a layer, `{E}` an expert, ranges are inclusive. */
interface Row {
  readonly name: string;
  readonly layers?: string;
  readonly experts?: string;
  readonly shape: readonly number[];
}

const numbersIn = (range = '0-0'): number[] => {
  const [first = 0, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
};

const expanded = ({ name, layers, experts, shape }: Row): { name: string; shape: readonly number[] }[] =>
  numbersIn(layers).flatMap((layer) =>
    numbersIn(experts).map((expert) => ({
      name: name.replace('{L}', String(layer)).replace('{E}', String(expert)),
      shape,
    })),
  );

const checkpointOf = (rows: readonly Row[]): Checkpoint => ({
  directory: 'names',
  files: [],
  warnings: [],
  tensors: new Map(
    rows
      .flatMap(expanded)
      .map(({ name, shape }) => [name, { name, dtype: 'BF16', shape, file: 'names', offset: 0, byteLength: 0 }]),
  ),
  read: () => {
    throw new Error('there are only names');
  },
  close: () => undefined,
});

/** Lists that are not written out in full; the full ones are bound in test/conformance. */
const REDUCED = [
  // Stored in 8-bit floats: beside each matrix there are its scales, and the config is that of the version before.
  {
    list: 'MiniMaxAI--MiniMax-M2.7.json',
    config: 'MiniMaxAI--MiniMax-M2.5.json',
    edit: { quantization_config: null },
    packed: /_scale_inv$/,
  },
];

describe('tensor names of published checkpoints with experts', () => {
  it.each(REDUCED)('$list: each name and shape is mapped, and none is missing', ({ list, config, edit, packed }) => {
    const { tensors } = readJson(`test/fixtures/weight-maps/${list}`) as unknown as { tensors: readonly Row[] };
    const { plan, rules } = planOf({ ...readJson(`test/fixtures/configs/${config}`), ...edit });
    const { audit } = bindWeights({
      slots: planSlots(plan, parts),
      rules,
      tied: plan.head.tied,
      checkpoint: checkpointOf(tensors.filter(({ name }) => !packed.test(name))),
    });
    expect(audit).toMatchObject({ missing: [], unexpected: [], misshaped: [], partlyRead: [] });
  });
});
