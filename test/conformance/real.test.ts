/**
 * A published model of its true size, as users run it. It is too large to be part of the repository, so this is run by
 * hand: KVAD_TEST_REAL_MODEL is the folder of SmolLM2-135M-Instruct (../shared/tools/real_model.py makes it).
 *
 *   KVAD_TEST_REAL_MODEL=/models/smollm2 npx vitest run test/conformance/real.test.ts
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, type Engine, type LoadedModel, type LoadOptions } from 'kvad';
import {
  compareLogits,
  concatenate,
  continueGreedily,
  prefillWhole,
  readTensors,
  standardDeviation,
} from '@kvad/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MODEL = process.env['KVAD_TEST_REAL_MODEL'] ?? '';
const REFERENCE = fileURLToPath(new URL('../../../shared/fixtures/real-smollm2/', import.meta.url));
const MISSING = [
  ...(existsSync(path.join(MODEL, 'config.json')) && MODEL !== '' ? [] : ['KVAD_TEST_REAL_MODEL']),
  ...(existsSync(REFERENCE) ? [] : ['../shared/fixtures/real-smollm2']),
];
const QUESTION = 'What is the boiling point of water?';
/** Of the standard deviation of the logits. */
const TOLERANCE = 2e-4;
/**
 * What fewer bits may change, somewhat more than the same rounding in another implementation does (PyTorch, weights and
 * activations rounded alike: q8 0.06 and 0.1 %, q4 0.4 and 9 %): the root mean square of the differences, of the
 * standard deviation of the logits, and how much worse the text is foretold.
 */
const ROUNDED = [
  { quant: 'q8', difference: 0.1, surprise: 1.01 },
  { quant: 'q4', difference: 0.6, surprise: 1.15 },
] as const;

describe.skipIf(MISSING.length > 0)(
  `a real model${MISSING.length === 0 ? '' : ` (needs ${MISSING.join(', ')})`}`,
  () => {
    let engine: Engine;
    let cache: string;
    beforeAll(() => {
      cache = mkdtempSync(path.join(tmpdir(), 'kvad-real-'));
      engine = createEngine({ plugins: [], env: { XDG_CACHE_HOME: cache } });
    });
    afterAll(async () => {
      await engine.close();
      rmSync(cache, { recursive: true, force: true });
    });
    const load = (quant: LoadOptions['quant'] = null): Promise<LoadedModel> =>
      engine.load(MODEL, { kvCacheDtype: 'f32', requireNative: true, quant });

    it.each([null, 'f32'] as const)(
      'gives the logits and the ids of the reference, weights %s',
      async (quant) => {
        const { positions, inputIds, greedyIds, chatIds, chatGreedyIds, logits } = readReference();
        await using model = await load(quant);
        const { vocabSize } = model.facts.plan;
        const actual = rowsAt(await prefillWhole(model, inputIds), positions, vocabSize);
        const { maxAbsDiff, argmaxAgreement } = compareLogits(actual, logits, vocabSize);
        show(
          `weights ${quant ?? 'as stored'}: largest difference ${(maxAbsDiff / standardDeviation(logits)).toExponential(1)}`,
        );
        expect(maxAbsDiff).toBeLessThanOrEqual(TOLERANCE * standardDeviation(logits));
        expect(argmaxAgreement).toBe(1);
        expect(await continueGreedily(model, inputIds, greedyIds.length)).toEqual([...greedyIds]);
        expect(await continueGreedily(model, chatIds, chatGreedyIds.length)).toEqual([...chatGreedyIds]);
      },
      120_000,
    );

    it('continues a text and answers a question as the reference does, tokenizer and template included', async () => {
      const { text, greedyText, chatPrompt, chatText } = readTexts();
      await using model = await load();
      const messages = [{ role: 'user', content: QUESTION }];
      expect(await model.render(messages, { addGenerationPrompt: true })).toBe(chatPrompt);
      expect(await answer(model, { text }, 40)).toBe(greedyText);
      expect(await answer(model, { messages }, 48)).toBe(chatText);
    }, 120_000);

    it.each(ROUNDED)(
      'is as near with $quant as rounding allows',
      async ({ quant, difference, surprise }) => {
        const { positions, inputIds, logits } = readReference();
        await using model = await load(quant);
        const { vocabSize } = model.facts.plan;
        const all = await prefillWhole(model, inputIds);
        const actual = rowsAt(all, positions, vocabSize);
        const squares = actual.reduce((sum, value, index) => sum + (value - logits[index]!) ** 2, 0);
        const distance = Math.sqrt(squares / actual.length) / standardDeviation(logits);
        const ratio = meanNll(all, inputIds, vocabSize) / readTexts().meanNll;
        show(
          `${quant}: root mean square of the differences ${distance.toFixed(3)}, mean NLL ${ratio.toFixed(4)} of the reference's`,
        );
        expect(distance).toBeLessThan(difference);
        expect(ratio).toBeLessThan(surprise);
        expect(ratio).toBeGreaterThan(2 - surprise);
      },
      120_000,
    );
  },
);

const show = (text: string): void => void process.stdout.write(`${text}\n`);

const readReference = () => {
  const tensors = readTensors(path.join(REFERENCE, 'reference.safetensors'));
  const bytes = (name: string): ArrayBuffer => tensors.get(name)!.bytes.slice().buffer;
  const ids = (name: string): Int32Array => Int32Array.from(new BigInt64Array(bytes(name)), Number);
  return {
    positions: ids('positions'),
    inputIds: ids('input_ids'),
    greedyIds: ids('greedy_ids'),
    chatIds: ids('chat_ids'),
    chatGreedyIds: ids('chat_greedy_ids'),
    logits: new Float32Array(bytes('logits_at')),
  };
};

const readTexts = () => {
  const facts = JSON.parse(readFileSync(path.join(REFERENCE, 'reference.json'), 'utf8')) as Record<string, string>;
  return {
    text: facts['text']!,
    greedyText: facts['greedy_text']!,
    chatPrompt: facts['chat_prompt']!,
    chatText: facts['chat_text']!,
    meanNll: Number(facts['mean_nll']),
  };
};

const rowsAt = (logits: Float32Array, positions: Int32Array, vocabSize: number): Float32Array =>
  concatenate([...positions].map((position) => logits.subarray(position * vocabSize, (position + 1) * vocabSize)));

/** Nats a token. */
const meanNll = (logits: Float32Array, ids: Int32Array, vocabSize: number): number => {
  let sum = 0;
  for (let position = 0; position + 1 < ids.length; position++) {
    const row = logits.subarray(position * vocabSize, (position + 1) * vocabSize);
    const largest = row.reduce((most, value) => Math.max(most, value), -Infinity);
    const total = row.reduce((whole, value) => whole + Math.exp(value - largest), 0);
    sum += largest + Math.log(total) - row[ids[position + 1]!]!;
  }
  return sum / (ids.length - 1);
};

const answer = async (
  model: LoadedModel,
  prompt: { text: string } | { messages: { role: string; content: string }[] },
  maxTokens: number,
): Promise<string> => {
  const session = await model.session();
  let text = '';
  for await (const event of session.generate(prompt, { temperature: 0, maxTokens }))
    if (event.type !== 'prompt') text += event.text;
  await session.close();
  return text;
};
