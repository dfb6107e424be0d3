import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createEngine, type Engine, type GenerateEvent, type LoadedModel, type LoadOptions, type Session } from 'kvad';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  distance,
  fresh,
  idsOf,
  TOY_FOLDER,
  toyFolder,
  toyModel,
  toyPlan,
  VOCAB,
  type Fault,
  type ToyChoice,
} from './toy.js';

const F32 = { kvCacheDtype: 'f32' } as const;
const NEAR = 1e-5;

const engines: Engine[] = [];
const folders: string[] = [];

const newEngine = (): Engine => {
  const engine = createEngine({ plugins: [TOY_FOLDER], env: {} });
  engines.push(engine);
  return engine;
};

const folderOf = (choice: ToyChoice): string => {
  const folder = toyFolder(choice);
  folders.push(folder);
  return folder;
};

const load = (choice: ToyChoice = {}, options: LoadOptions = F32): Promise<LoadedModel> =>
  newEngine().load(folderOf(choice), options);

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const eventsOf = async (events: AsyncIterable<GenerateEvent>): Promise<GenerateEvent[]> => {
  const all: GenerateEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};
const tokensOf = (events: readonly GenerateEvent[]): number[] =>
  events.flatMap((event) => (event.type === 'token' ? [event.id] : []));

/** Runs `body` in a process of its own, with a session of a model that has this fault. */
const script = (body: string, fault: Fault = 'slow'): Promise<{ stdout: string; stderr: string }> => {
  const source = `import { createEngine } from 'kvad';
    const engine = createEngine({ plugins: [${JSON.stringify(TOY_FOLDER)}], env: {} });
    const model = await engine.load(${JSON.stringify(folderOf({ fault }))});
    const session = await model.session();
    ${body}
    console.log('done');`;
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], { cwd, timeout: 60_000 });
};

describe('a loaded model', () => {
  let model: LoadedModel;
  let session: Session;
  const ids = idsOf(20);
  const longhand = toyModel(toyPlan());
  const engine = createEngine({ plugins: [TOY_FOLDER], env: {} });

  beforeAll(async () => {
    model = await engine.load(folderOf({}), F32);
    session = await model.session();
  });
  afterAll(() => engine.close());

  it('tells what it is', () => {
    const { facts } = model;
    expect(facts).toMatchObject({ quant: null, kvCacheDtype: 'f32', warnings: [] });
    expect(facts.plan.modelType).toBe('toy_lm');
    expect(facts.weightAudit.missing).toEqual([]);
    const elements = 2 * VOCAB * 8 + 2 * 4 * 64 + 64 + 3 * (64 + 16) + 8;
    expect([facts.parameters, facts.weightBytes]).toEqual([elements, 4 * elements]);
    expect(facts.stateBytesPerToken).toBe(2 * 2 * 8 * 4);
    expect(facts.text).toMatchObject({ tokenizer: null, template: null });
  });

  it('gives logits of all rows, of the last, or of none', async () => {
    const expected = await fresh(longhand, ids);
    const all = await session.prefill(ids.slice(0, 10), { logits: 'all', chunk: 3 });
    expect(distance([...all], expected.slice(0, 10 * VOCAB))).toBeLessThan(NEAR);
    expect(await session.prefill(ids.slice(10, 15), { logits: 'none' })).toHaveLength(0);
    const last = await session.prefill(ids.slice(15));
    expect(distance([...last], expected.slice(-VOCAB))).toBeLessThan(NEAR);
    expect(session.tokens).toEqual(ids);
  });

  it('truncates, takes snapshots, and returns to them', async () => {
    const snapshot = await session.snapshot();
    expect(snapshot).toMatchObject({ length: 20 });
    expect(snapshot.bytes).toBeGreaterThan(20 * 128);
    for (const length of [1.5, NaN, -1, Infinity]) {
      await expect(session.truncate(length)).rejects.toMatchObject({ code: 'KVAD_E_OPTION' });
    }
    expect(session.tokens).toEqual(ids);
    const landed = await session.truncate(12);
    expect(session.tokens).toEqual(ids.slice(0, landed));
    expect(await session.restore(snapshot)).toBe(20);
    expect(session.tokens).toEqual(ids);
    const next = await session.prefill([4]);
    expect(distance([...next], (await fresh(longhand, [...ids, 4])).slice(-VOCAB))).toBeLessThan(NEAR);
    await session.forget(snapshot);
    await expect(session.restore(snapshot)).rejects.toMatchObject({ code: 'KVAD_E_SNAPSHOT' });
    await expect(session.forget(snapshot)).rejects.toMatchObject({ code: 'KVAD_E_SNAPSHOT' });
    const other = await model.session();
    await expect(other.restore({ ...snapshot, id: 99 })).rejects.toMatchObject({ code: 'KVAD_E_SNAPSHOT' });
    await other.prefill([1]);
    const [mine, theirs] = [await session.snapshot(), await other.snapshot()];
    await expect(other.restore(mine)).rejects.toMatchObject({ code: 'KVAD_E_SNAPSHOT' });
    await expect(session.forget(theirs)).rejects.toMatchObject({ code: 'KVAD_E_SNAPSHOT' });
    expect(await other.restore(theirs)).toBe(1);
    await other.close();
  });

  it('steps several sessions at once', async () => {
    const [a, b] = [await model.session(), await model.session()];
    await Promise.all([a.prefill(ids.slice(0, 9)), b.prefill(idsOf(4, 5))]);
    const logits = await model.step([a, b], [[7], [8, 9]]);
    const expected = [await fresh(longhand, [...ids.slice(0, 9), 7]), await fresh(longhand, [...idsOf(4, 5), 8, 9])];
    logits.forEach((row, index) => expect(distance([...row], expected[index]!.slice(-VOCAB))).toBeLessThan(NEAR));
    expect([a.tokens.length, b.tokens.length]).toEqual([10, 6]);
    await expect(model.step([a], [])).rejects.toMatchObject({ code: 'KVAD_E_OPTION' });
    await a.close();
    await a.close();
    await expect(model.step([a], [[1]])).rejects.toMatchObject({ code: 'KVAD_E_CLOSED', params: { what: 'session' } });
    await expect(a.prefill([1])).rejects.toMatchObject({ code: 'KVAD_E_CLOSED' });
    await b.close();
  });

  it('generates for several sessions at once what it generates for each alone', async () => {
    const prompts = [idsOf(5, 1), idsOf(30, 2), idsOf(11, 3)];
    const run = async (prompt: number[]) => {
      const own = await model.session();
      return tokensOf(await eventsOf(own.generate({ ids: prompt }, { maxTokens: 12, temperature: 0 })));
    };
    const together = await Promise.all(prompts.map(run));
    for (const [index, prompt] of prompts.entries()) expect(together[index]).toEqual(await run(prompt));
  });

  it('runs calls of one session one after the other', async () => {
    const own = await model.session();
    const [, landed, last] = await Promise.all([
      own.prefill(ids.slice(0, 16), { logits: 'none' }),
      own.truncate(0),
      own.prefill(ids.slice(0, 3)),
    ]);
    expect(landed).toBe(0);
    expect(distance([...last], (await fresh(longhand, ids.slice(0, 3))).slice(-VOCAB))).toBeLessThan(NEAR);
    expect(own.tokens).toEqual(ids.slice(0, 3));
  });

  it('says that it has no tokenizer when one is needed', async () => {
    await expect(model.encode('a', { special: true })).rejects.toMatchObject({ code: 'KVAD_E_TOKENIZER_MISSING' });
    await expect(model.render([], { addGenerationPrompt: true })).rejects.toMatchObject({
      code: 'KVAD_E_TEMPLATE_MISSING',
    });
  });

  it.each([
    [{ chunk: 0 }, [1], 'KVAD_E_OPTION'],
    [{}, [VOCAB], 'KVAD_E_TOKEN_ID'],
    [{}, idsOf(300), 'KVAD_E_CONTEXT'],
  ])('refuses a prefill with %j of %j', async (options, wrong, code) => {
    const own = await model.session();
    await expect(own.prefill(wrong, options)).rejects.toMatchObject({ code });
  });
});

describe('an abort', () => {
  it('ends a prefill before its end, with the reason of the caller', async () => {
    const session = await (await load({ fault: 'slow' })).session();
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    setTimeout(() => controller.abort(reason), 100);
    await expect(session.prefill(idsOf(250), { chunk: 1, signal: controller.signal })).rejects.toBe(reason);
    expect(session.tokens.length).toBeLessThan(200);
    const held = session.tokens.length;
    await session.prefill([1]);
    expect(session.tokens).toHaveLength(held + 1);
  });

  // Where this thread has to wait for a processor, the worker makes some tokens more; not so in every try.
  it('ends a generation within one step, and the model goes on', { retry: 4 }, async () => {
    const session = await (await load({ fault: 'slow' })).session();
    const controller = new AbortController();
    const events: GenerateEvent[] = [];
    let after = 0;
    for await (const event of session.generate({ ids: [1, 2] }, { maxTokens: 200, signal: controller.signal })) {
      events.push(event);
      if (controller.signal.aborted && event.type === 'token') after++;
      if (events.length === 5) controller.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'aborted' });
    expect(after).toBeLessThanOrEqual(3);
    expect(tokensOf(await eventsOf(session.generate({ ids: [3] }, { maxTokens: 2 })))).toHaveLength(2);
  });

  it('before the start leaves everything as it was', async () => {
    const session = await (await load()).session();
    const signal = AbortSignal.abort();
    await expect(session.prefill([1, 2], { signal })).rejects.toBe(signal.reason);
    expect(await eventsOf(session.generate({ ids: [1] }, { signal }))).toMatchObject([
      { type: 'prompt' },
      { type: 'end', reason: 'aborted' },
    ]);
    expect(session.tokens).toEqual([]);
  });

  it('is what a reader does that stops reading', async () => {
    const session = await (await load({ fault: 'slow' })).session();
    for await (const event of session.generate({ ids: [1, 2] }, { maxTokens: 250 })) if (event.type === 'token') break;
    expect(session.tokens.length).toBeLessThan(200);
  });
});

describe('an error', () => {
  it('of a plugin reaches the caller with its own message, and the session goes on', async () => {
    const session = await (await load({ fault: 'throw' })).session();
    await expect(session.prefill([1, 13])).rejects.toMatchObject({
      name: 'KvadError',
      code: 'KVAD_E_PLUGIN',
      params: { plugin: 'that brings the ffn "toy-ffn"', reason: 'unlucky token' },
      hint: expect.stringContaining('author') as string,
      cause: { name: 'RangeError', message: 'unlucky token' },
    });
    expect(session.tokens).toEqual([]);
    expect(await session.prefill([1, 2])).toHaveLength(VOCAB);
  });

  it('in the middle of a generation ends it', async () => {
    const session = await (await load({ fault: 'nan' })).session();
    const events = session.generate({ ids: [1, 13] }, { maxTokens: 3 });
    await expect(eventsOf(events)).rejects.toMatchObject({ code: 'KVAD_E_NAN' });
  });

  it.each<[string, LoadOptions | null, string]>([
    ['no folder', null, 'KVAD_E_MODEL_NOT_FOUND'],
    ['no such precision', { quant: 'q5' as never }, 'KVAD_E_OPTION'],
    ['no rows in a batch', { batchSize: 0 }, 'KVAD_E_OPTION'],
  ])('of a load reaches the caller: %s', async (_, options, code) => {
    const folder = options ? folderOf({}) : '/nowhere/at/all';
    await expect(newEngine().load(folder, options ?? {})).rejects.toMatchObject({ code });
  });

  it('of a plugin that is not there reaches the caller as the registry threw it', async () => {
    const engine = createEngine({ plugins: ['/no/such/plugin'], env: {} });
    engines.push(engine);
    const loading = engine.load(folderOf({}));
    await expect(loading).rejects.toMatchObject({ name: 'KvadError', code: 'KVAD_E_PLUGIN_NOT_FOUND' });
  });

  it('of a worker that dies reaches every call that waits and every later one', async () => {
    const model = await load({ fault: 'exit' });
    const [session, other] = [await model.session(), await model.session()];
    const waiting = other.prefill(idsOf(5));
    const gone = {
      code: 'KVAD_E_WORKER',
      params: { directory: model.facts.directory, reason: 'its thread ended with code 3' },
    };
    await Promise.all([
      expect(session.prefill([1, 13])).rejects.toMatchObject(gone),
      expect(waiting).rejects.toMatchObject(gone),
    ]);
    await expect(other.prefill([1])).rejects.toMatchObject(gone);
    await expect(eventsOf(other.generate({ ids: [1] }))).rejects.toMatchObject(gone);
    await other.close();
    await model.close();
  });

  it('of a worker that dies in a generation ends it', async () => {
    const session = await (await load({ fault: 'exit' })).session();
    await expect(eventsOf(session.generate({ ids: [13] }))).rejects.toMatchObject({ code: 'KVAD_E_WORKER' });
  });
});

describe('closing', () => {
  it('a model ends what runs, and refuses what comes', async () => {
    const model = await load({ fault: 'slow' });
    const session = await model.session();
    const waiting = expect(session.prefill(idsOf(200), { chunk: 1 })).rejects.toMatchObject({ code: 'KVAD_E_CLOSED' });
    await Promise.all([model.close(), waiting]);
    await expect(model.session()).rejects.toMatchObject({ code: 'KVAD_E_CLOSED', params: { what: 'model' } });
    await model.close();
  });

  it('an engine closes its models, ends loads, and loads no more', async () => {
    const engine = newEngine();
    const folder = folderOf({});
    const model = await engine.load(folder);
    const loading = expect(engine.load(folder)).rejects.toMatchObject({ code: 'KVAD_E_CLOSED' });
    await engine.close();
    await loading;
    await expect(model.session()).rejects.toMatchObject({ code: 'KVAD_E_CLOSED' });
    await expect(engine.load(folder)).rejects.toMatchObject({ code: 'KVAD_E_CLOSED', params: { what: 'engine' } });
  });

  it.each([
    [
      'everything is closed',
      'await session.prefill([1]); await session.close(); await model.close(); await engine.close();',
    ],
    ['nothing waits, closed or not', 'await session.prefill([1]);'],
    [
      'a generation was left',
      'for await (const event of session.generate({ ids: [1] })) if (event.type === "token") break;',
    ],
  ])('lets the process end when %s', async (_, body) => {
    expect((await script(body)).stdout).toBe('done\n');
  });
});

it('what a plugin prints goes to stderr', async () => {
  const { stdout, stderr } = await script('await session.prefill([13]); await engine.close();', 'print');
  expect([stdout, stderr]).toEqual(['done\n', 'printed by a plugin\n']);
});

it('the caller’s thread is not blocked while a prompt is read', async () => {
  const session = await (await load({ fault: 'slow' })).session();
  const steps = 50;
  let [reading, turns] = [true, 0];
  const turn = (): void => {
    turns++;
    if (reading) setImmediate(turn);
  };
  setImmediate(turn);
  await session.prefill(idsOf(2 * steps), { chunk: 2 });
  reading = false;
  // A thread that did the work itself would turn once a step at most.
  expect(turns).toBeGreaterThan(10 * steps);
});

it('memory is given back: a model can be loaded and closed again and again', async () => {
  const engine = newEngine();
  const folder = folderOf({});
  for (let round = 0; round < 5; round++) {
    const model = await engine.load(folder);
    await (await model.session()).prefill(idsOf(10));
    await model.close();
  }
});
