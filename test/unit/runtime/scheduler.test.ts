import { expect, it, vi } from 'vitest';
import { generate } from '../../../core/dist/runtime/generate.js';
import { Scheduler } from '../../../core/dist/runtime/scheduler.js';
import { Sequence } from '../../../core/dist/runtime/sequence.js';
import { fakeText } from './fake-text.js';
import { idsOf, toyModel, VOCAB } from './toy.js';

const model = toyModel();

/** Lengths of the sequences' rows in each forward. */
const watch = () => {
  const forwards: number[][] = [];
  const forward = model.forward.bind(model);
  vi.spyOn(model, 'forward').mockImplementation((sequences) => {
    forwards.push(sequences.map(({ ids }) => ids.length));
    return forward(sequences);
  });
  return forwards;
};

const stepper = (batchRows: number) => {
  const scheduler = new Scheduler(model, batchRows);
  const step = (length: number, sequence = new Sequence(model)) => {
    return scheduler.run({ sequence, ids: idsOf(length), finalLength: length, logits: 'last' });
  };
  return { scheduler, step };
};

it('runs the steps that wait in one forward', async () => {
  const forwards = watch();
  const { step } = stepper(512);
  const logits = await Promise.all([step(1), step(1), step(4)]);
  expect(forwards).toEqual([[1, 1, 4]]);
  expect(logits.map(({ length }) => length)).toEqual([VOCAB, VOCAB, VOCAB]);
});

it('chunks of prompts share the rows of a batch in order; single tokens always fit', async () => {
  const forwards = watch();
  const { step } = stepper(8);
  await Promise.all([step(6), step(1), step(4), step(2), step(1)]);
  expect(forwards).toEqual([[6, 1, 2, 1], [4]]);
});

it('a chunk of more rows than a batch runs alone', async () => {
  const forwards = watch();
  const { step } = stepper(4);
  await Promise.all([step(2), step(9), step(2)]);
  expect(forwards).toEqual([[2, 2], [9]]);
});

it('lets the event loop run between two forwards', async () => {
  const { step } = stepper(4);
  const seen: string[] = [];
  const sequence = new Sequence(model);
  const first = step(2, sequence).then(() => {
    setImmediate(() => seen.push('event loop'));
    return step(2, sequence).then(() => seen.push('forward'));
  });
  await first;
  expect(seen).toEqual(['event loop', 'forward']);
});

it('puts the next tokens of all generations into one forward', async () => {
  const forwards = watch();
  const scheduler = new Scheduler(model, 512);
  const text = fakeText();
  const run = async (prompt: number[]) => {
    const generator = { directory: '', model, text, scheduler, sequence: new Sequence(model), chunk: 512 };
    let tokens = 0;
    for await (const event of generate(generator, { ids: prompt }, { maxTokens: 6 })) {
      if (event.type === 'token') tokens++;
    }
    return tokens;
  };
  expect(await Promise.all([run(idsOf(1, 1)), run(idsOf(1, 2)), run(idsOf(1, 3))])).toEqual([6, 6, 6]);
  expect(forwards).toEqual(Array<number[]>(6).fill([1, 1, 1]));
});

it('refuses a cancelled step and runs the others', async () => {
  const { scheduler, step } = stepper(512);
  const gone = new Sequence(model);
  const [lost, kept] = [step(3, gone), step(3)];
  scheduler.cancel(gone, new Error('closed'));
  await expect(lost).rejects.toThrow('closed');
  expect(await kept).toHaveLength(VOCAB);
  expect(gone.length).toBe(0);
});

it('refuses what a cancelled sequence asks for later: its text may still have been encoded', async () => {
  const { scheduler, step } = stepper(512);
  const gone = new Sequence(model);
  scheduler.cancel(gone, new Error('closed'));
  gone.free();
  await expect(step(3, gone)).rejects.toThrow('closed');
  expect(gone.length).toBe(0);
});
