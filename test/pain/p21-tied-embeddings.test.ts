/** P21: a head that is there and ignored, or absent and invented, gives fluent nonsense. Four cells, decided. */
import { describe, expect, it } from 'vitest';
import { changed, type Config, outcome, type Tensors } from './checkpoints.js';

/** Fixtures of families whose published default of the flag differs. */
const FAMILIES = [
  { fixture: 'dense-core/llama', untold: false, embedding: 'model.embed_tokens.weight', headName: 'lm_head.weight' },
  { fixture: 'dense-core/gpt2', untold: true, embedding: 'transformer.wte.weight', headName: 'lm_head.weight' },
] as const;

const FLAGS = { true: true, false: false, null: null, absent: undefined };

const cases = FAMILIES.flatMap((family) =>
  Object.entries(FLAGS).flatMap(([flag, value]) =>
    (['absent', 'a copy', 'another'] as const).map((head) => ({ ...family, flag, value, head })),
  ),
);

/** What must happen, whatever the family. */
const expected = (tied: boolean, head: string): string | null => {
  if (head === 'absent') return tied ? null : 'KVAD_E_WEIGHTS_MISSING';
  return tied && head === 'another' ? 'KVAD_E_WEIGHTS_TIED' : null;
};

describe('tied embeddings', () => {
  it.each(cases)('$fixture, flag $flag, head $head', async ({ fixture, untold, value, head, ...names }) => {
    const directory = changed(fixture, {
      config: ({ tie_word_embeddings: _, ...rest }): Config =>
        value === undefined ? rest : { ...rest, tie_word_embeddings: value },
      tensors: ({ [names.headName]: _, ...rest }): Tensors => {
        const embedding = rest[names.embedding]!;
        if (head === 'absent') return rest;
        const bytes = embedding.bytes.slice();
        if (head === 'another') bytes[1]! ^= 0x80;
        return { ...rest, [names.headName]: { ...embedding, bytes } };
      },
    });
    const result = await outcome(directory);
    expect(result?.code ?? null).toBe(expected(value ?? untold, head));
    if (result !== null) expect(result.message).toContain(names.headName);
  });
});
