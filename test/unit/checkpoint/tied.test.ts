import { refuseBadWeights } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { f32, refusal, zeros } from './files.js';
import { bind, RULES, tensors, without } from './models.js';

const embedding = tensors()['model.embed_tokens.weight']!;
const noHead = without(tensors(), (name) => name.startsWith('lm_head'));
const equalHead = { ...noHead, 'lm_head.weight': embedding };
const ownHead = tensors();

describe('tied embeddings: the flag of the plan against the head of the file', () => {
  it('tied, no head: the head is the embedding', () => {
    const { weights, audit, directory } = bind(noHead, { tied: true });
    refuseBadWeights(audit, { directory });
    expect(weights.sourceOf('head.weight')).toBe(weights.sourceOf('embedding.tokens.weight'));
    expect(weights.read('head.weight').bytes).toEqual(embedding.bytes);
  });

  it('tied, a head that is a copy: the embedding serves both', () => {
    const { weights, audit, directory } = bind(equalHead, { tied: true });
    refuseBadWeights(audit, { directory });
    expect(audit.unexpected).toEqual([]);
    expect(weights.sourceOf('head.weight')).toBe('model.embed_tokens.weight');
    expect(weights.read('head.weight').bytes).toEqual(embedding.bytes);
  });

  it.each(['embedding.tokens.weight', 'head.weight'])('tied, another head: refused when %s is read', (slot) => {
    const { weights, audit, directory } = bind(ownHead, { tied: true });
    refuseBadWeights(audit, { directory });
    expect(weights.read('layers.0.mixer.q.weight').bytes).toHaveLength(64);
    const error = refusal(() => weights.read(slot));
    expect(error.code).toBe('KVAD_E_WEIGHTS_TIED');
    expect(error.message).toContain(
      'lm_head.weight that is not model.embed_tokens.weight: their values differ from row 0 on',
    );
    expect(error.hint).toContain('tie_word_embeddings to false');
    expect(refusal(() => weights.read(slot)).code).toBe('KVAD_E_WEIGHTS_TIED');
  });

  it('tied, a head that differs in the last bit of the last row: refused', () => {
    const bytes = embedding.bytes.slice();
    bytes[bytes.length - 1]! ^= 1;
    const { weights } = bind({ ...noHead, 'lm_head.weight': { ...embedding, bytes } }, { tied: true });
    expect(refusal(() => weights.read('head.weight')).message).toContain('differ from row 7 on');
  });

  it('tied, the same head in another type: refused', () => {
    const { weights } = bind({ ...noHead, 'lm_head.weight': zeros('BF16', [8, 4], 64) }, { tied: true });
    expect(refusal(() => weights.read('head.weight')).message).toContain('stored as BF16, not F32');
  });

  it('tied, a head of another shape: found from the headers', () => {
    const { audit } = bind({ ...noHead, 'lm_head.weight': f32([9, 4]) }, { tied: true });
    expect(audit.misshaped).toEqual([
      { slot: 'head.weight', tensor: 'lm_head.weight', expected: [8, 4], found: [9, 4] },
    ]);
  });

  it('tied, a head in a type that is not read: unreadable', () => {
    const { audit } = bind({ ...noHead, 'lm_head.weight': zeros('I8', [8, 4], 32) }, { tied: true });
    expect(audit.unreadable).toMatchObject([{ tensor: 'lm_head.weight', dtype: 'I8' }]);
  });

  it('tied, and the family has no rule for a head: a head is unexpected', () => {
    const rules = RULES.filter((rule) => !('slot' in rule) || rule.slot !== 'head.weight');
    expect(bind(noHead, { tied: true, rules }).audit.diagnosis).toBeNull();
    expect(bind(equalHead, { tied: true, rules }).audit.unexpected).toEqual(['lm_head.weight']);
  });

  it('tied, and the embedding itself is absent: only that is missing', () => {
    const { audit } = bind(
      without(ownHead, (name) => name.includes('embed')),
      { tied: true },
    );
    expect(audit.missing).toEqual([{ slot: 'embedding.tokens.weight', tensors: ['model.embed_tokens.weight'] }]);
    expect(audit.unexpected).toEqual([]);
  });

  it('not tied, a head: each has its own', () => {
    for (const stored of [ownHead, equalHead]) {
      const { weights, audit, directory } = bind(stored, { tied: false });
      refuseBadWeights(audit, { directory });
      expect(weights.sourceOf('head.weight')).toBe('lm_head.weight');
      expect(weights.read('head.weight').bytes).toEqual(stored['lm_head.weight']!.bytes);
    }
  });

  it('not tied, no head: refused, with what to look at', () => {
    const { audit, directory } = bind(noHead, { tied: false });
    const error = refusal(() => refuseBadWeights(audit, { directory }));
    expect(error.code).toBe('KVAD_E_WEIGHTS_MISSING');
    expect(error.message).toContain('is not tied, but its checkpoint has no head');
  });
});
