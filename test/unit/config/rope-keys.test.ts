import { ropeOf } from '@kvad/core/plugin';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MadeFamily, type Config, type Sketch } from './made-family.js';

let made: MadeFamily;
beforeEach(() => (made = new MadeFamily()));
afterEach(() => made.remove());

const shared = (name: string): object => ({ $ref: `https://kvad.dev/schemas/config-rope.schema.json#/$defs/${name}` });
const error = (code: string, params: object = {}): unknown =>
  expect.objectContaining({ code, params: expect.objectContaining(params) as object });

describe('rotary keys', () => {
  const properties = {
    rope_theta: { ...shared('rope_theta'), default: 1e4 },
    rope_scaling: shared('rope_scaling'),
    rope_parameters: shared('rope_parameters'),
  };
  const sketch = (partial: boolean): Sketch => ({
    properties,
    read: (c: Config) => ropeOf(c, { headDim: 16, partial, inert: { mrope_section: 'all axes are the same in text' } }),
  });
  const audit = (keys: Config, partial = false) => made.plan(sketch(partial), keys, { lenient: true }).audit;

  it('are read one by one, and what no table of the type uses is refused', () => {
    const yarn = { type: 'yarn', factor: 4, original_max_position_embeddings: 32, low_freq_factor: 1 };
    const { read, refused } = audit({ rope_theta: 5e5, rope_scaling: yarn });
    expect(read.filter((key) => key.startsWith('rope'))).toEqual([
      'rope_theta',
      'rope_scaling.type',
      'rope_scaling.factor',
      'rope_scaling.original_max_position_embeddings',
    ]);
    expect(refused).toEqual([{ key: 'rope_scaling.low_freq_factor', value: 1 }]);
  });

  it('that are defaults of the schema yield to the other home', () => {
    const { read, refused } = audit({ rope_parameters: { rope_theta: 5e5, rope_type: 'default' } });
    expect(read).toEqual(expect.arrayContaining(['rope_parameters.rope_theta', 'rope_parameters.rope_type']));
    expect(refused).toEqual([]);
  });

  it('that change nothing are inert, with the reason', () => {
    const settings = { type: 'linear', factor: 2, finetuned: true, mrope_section: [1, 2] };
    expect(audit({ rope_scaling: settings, original_max_position_embeddings: 64 }).refused).toEqual([
      { key: 'original_max_position_embeddings', value: 64 },
    ]);
    expect(audit({ rope_scaling: settings }).inert).toEqual([
      { key: 'rope_scaling.finetuned', reason: 'records how the model was trained' },
      { key: 'rope_scaling.mrope_section', reason: 'all axes are the same in text' },
    ]);
    expect(audit({ original_max_position_embeddings: 64 }).inert).toMatchObject([
      { key: 'original_max_position_embeddings' },
    ]);
  });

  it.each([
    [0.5, ['partial_rotary_factor']],
    [1, []],
  ])('partial_rotary_factor %d of a family that rotates all columns: refused %j', (factor, keys) => {
    expect(audit({ partial_rotary_factor: factor }).refused.map(({ key }) => key)).toEqual(keys);
    expect(audit({ partial_rotary_factor: factor }, true).refused).toEqual([]);
  });

  it('of an unknown type are refused with the file', () => {
    expect(() => audit({ rope_scaling: { type: 'spiral' } })).toThrow(
      error('KVAD_E_CONFIG_VALUE', { key: 'rope_scaling.type', value: '"spiral"', file: '/models/made/config.json' }),
    );
  });

  it('of two homes that disagree are refused with both', () => {
    expect(() => audit({ rope_theta: 1e6, rope_parameters: { rope_theta: 1e4 } })).toThrow(
      error('KVAD_E_CONFIG_CONFLICT', {
        keys: ['rope_parameters.rope_theta', 'rope_theta'],
        file: '/models/made/config.json',
      }),
    );
  });
});
