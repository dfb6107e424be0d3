import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MadeFamily, type Config, type Sketch } from './made-family.js';

let made: MadeFamily;
beforeEach(() => (made = new MadeFamily()));
afterEach(() => made.remove());

const error = (code: string, params: object = {}): unknown =>
  expect.objectContaining({ code, params: expect.objectContaining(params) as object });

describe('a wrapper', () => {
  const text = {
    vocab_size: 100,
    hidden_size: 64,
    num_hidden_layers: 2,
    max_position_embeddings: 256,
    model_type: 'made_text',
  };
  const nested = { key: 'text_config', inert: { vision_config: 'text only' }, owns: { tied: true } };
  const sketch = (read: (c: Config) => unknown = () => 0): Sketch => ({
    nested,
    read,
    properties: { tied: { type: 'boolean' } },
  });

  it('holds the config, and its own keys are judged too', () => {
    const raw = {
      model_type: 'made',
      vision_config: { a: 1 },
      transformers_version: '5',
      text_config: { ...text, odd: 1 },
      strange: 2,
    };
    const { audit } = made.planRaw(sketch(), raw, { lenient: true });
    expect(audit.read).toEqual([
      'model_type',
      ...['vocab_size', 'hidden_size', 'num_hidden_layers', 'max_position_embeddings', 'model_type'].map(
        (key) => `text_config.${key}`,
      ),
    ]);
    expect(audit.inert.map(({ key }) => key)).toEqual(['vision_config', 'transformers_version']);
    expect(audit.refused).toEqual([
      { key: 'strange', value: 2 },
      { key: 'text_config.odd', value: 1 },
    ]);
  });

  it.each([
    [{ tied: false }, { tied: true }, false],
    [{}, { tied: false }, true],
  ])('decides what it owns: outer %j, inner %j', (outer, inner, tied) => {
    let seen: unknown;
    const raw = { model_type: 'made', ...outer, text_config: { ...text, ...inner } };
    const { audit } = made.planRaw(
      sketch((c) => (seen = c['tied'])),
      raw,
    );
    expect(seen).toBe(tied);
    expect(audit.inert).toContainEqual({ key: 'text_config.tied', reason: '"tied" of the wrapper decides' });
    expect(audit.read.includes('tied')).toBe('tied' in outer);
  });

  it('is not needed: the text config may stand alone', () => {
    expect(made.planRaw(sketch(), text).plan.hiddenSize).toBe(64);
  });

  it('names keys by their place in the file', () => {
    const raw = { model_type: 'made', text_config: { ...text, hidden_size: -1 } };
    expect(() => made.planRaw(sketch(), raw)).toThrow(
      error('KVAD_E_CONFIG_INVALID', { problems: [expect.objectContaining({ key: 'text_config.hidden_size' })] }),
    );
  });

  it('that the family does not plan is refused, not read as a model with default sizes', () => {
    expect(() =>
      made.planRaw(
        { required: [] },
        { model_type: 'wrapper', text_config: { ...text, model_type: 'made' } },
        { lenient: true },
      ),
    ).toThrow(error('KVAD_E_CONFIG_VALUE', { key: 'model_type', value: '"wrapper"' }));
  });

  it('of a quantised text model is refused', () => {
    const raw = { model_type: 'made', text_config: { ...text, quantization_config: { quant_method: 'fp8' } } };
    expect(() => made.planRaw(sketch(), raw)).toThrow(error('KVAD_E_CONFIG_QUANTIZED', { scheme: 'fp8' }));
  });
});
