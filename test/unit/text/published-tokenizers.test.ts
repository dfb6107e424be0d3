import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tokenizerGoldens } from '../../../cli/dist/goldens/tokenizers.js';

/**
 * Ids, text and stream pieces of published tokenizers, as the Rust library gives them; `npm run goldens` runs the same
 * code over those whose files must be fetched too. Their vocabularies are not ours to copy: they lie beside the
 * repository, and where they do not, the suite's name says so.
 */
const FOLDER = fileURLToPath(new URL('../../../../shared/fixtures/tokenizers', import.meta.url));
const PRESENT = existsSync(FOLDER);

/** Those whose tokenizer.json is there; the variants are GPT-2's with parts replaced. */
const NAMES = [
  ...['gpt2', 'qwen2_5', 'deepseek_v4', 'mistral_v3', 'unigram_t5', 'minilm'],
  ...['variant_added_flags', 'variant_bloom', 'variant_deepseek_coder', 'variant_falcon'],
  ...['variant_gpt_neox', 'variant_roberta'],
];

describe.skipIf(!PRESENT)(`published tokenizers${PRESENT ? '' : ' (needs ../shared/fixtures/tokenizers)'}`, () => {
  it.each(NAMES)('%s gives the ids, texts and pieces of the Rust library', async (name) => {
    const report = await tokenizerGoldens(FOLDER, { names: [name] });
    expect(report).toMatchObject({ failures: [], different: 0, refused_only_here: 0 });
    expect(report.equal).toBe(report.cases);
    expect(report.cases).toBeGreaterThan(900);
  });

  it.each(['gpt2', 'qwen2_5', 'mistral_v3', 'deepseek_v4'])(
    '%s is the same to the JavaScript library, for machines without a native one',
    async (name) => {
      const report = await tokenizerGoldens(FOLDER, { names: [name], library: 'javascript' });
      expect(report).toMatchObject({ failures: [], different: 0, refused_only_here: 0 });
    },
  );

  it('names what it has no file for', async () => {
    const report = await tokenizerGoldens(FOLDER, { names: ['no_such_name'] });
    expect(report).toMatchObject({ cases: 0, equal: 0 });
  });
});
