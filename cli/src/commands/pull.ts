import { HubClient, hubSettings, KvadError, modelName, parseModelId, pullModel, type HubModel } from '@kvad/core';
import type { CliPull } from '@kvad/schemas';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { formatBytes } from '../io/quantities.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { PullProgressLine } from './pull-progress.js';

/** `kvad pull MODEL[@revision]`. */
export const pull: Action<'pull'> = async (io, { args, options }) => {
  const model = hubModel(args.model, 'pull');
  const line = new PullProgressLine(io);
  const notices: Promise<void>[] = [];
  const note = (text: string): void => void notices.push(line.clear().then(() => warn(io, text)));
  const client = new HubClient(hubSettings(io.env), {
    signal: io.interrupt,
    onWait: (reason, milliseconds) => note(`${reason}; trying again in ${(milliseconds / 1000).toFixed(1)} s`),
  });
  try {
    const result = await pullModel(client, model, {
      verify: options.verify,
      onProgress: line.show,
      onLocked: (process) => note(`process ${process} is downloading ${model.id}: waiting for it`),
    });
    await Promise.all(notices);
    await line.clear();
    const object = pullObject(result);
    if (options.json) await writeJson(io.stdout, object);
    else await writeLine(io.stdout, pullPage(object));
    return 0;
  } finally {
    await line.clear();
    await tellResume(io, model);
  }
};

/** Throws KVAD_E_USAGE for what is no name of the Hub. */
export const hubModel = (text: string, command: string): HubModel => {
  const model = parseModelId(text, { bare: true });
  if (model !== null) return model;
  const problem = `${JSON.stringify(text)} is no model of the Hub: expected owner/name or owner/name@revision`;
  throw new KvadError('KVAD_E_USAGE', { problem, command });
};

const tellResume = async (io: Io, model: HubModel): Promise<void> => {
  if (!io.interrupt.aborted) return;
  await writeLine(io.stderr, `stopped; kvad pull ${modelName(model)} goes on from here`);
};

type Pulled = Awaited<ReturnType<typeof pullModel>>;

const pullObject = ({ model, commit, folder, files, leftOut, asked }: Pulled): CliPull => ({
  object: 'kvad.pull',
  model: model.id,
  revision: model.revision,
  commit,
  folder,
  from_cache: !asked,
  bytes: sum(files),
  fetched_bytes: sum(files.filter(({ state }) => state === 'fetched')),
  files: files.map((file) => ({ ...file })),
  left_out: leftOut.map((file) => ({ ...file })),
});

const sum = (files: readonly { bytes: number }[]): number => files.reduce((total, { bytes }) => total + bytes, 0);

const pullPage = ({ model, revision, commit, folder, files, left_out, from_cache, fetched_bytes }: CliPull): string => {
  const name = modelName({ id: model, revision });
  if (from_cache) return `${name} is in the cache, the Hub was not asked\n${folder}`;
  const fetched = files.filter(({ state }) => state === 'fetched').length;
  const done = `${name} (${commit.slice(0, 12)}): ${count(fetched)} fetched, ${formatBytes(fetched_bytes)}`;
  const there = fetched === files.length ? '' : `, ${files.length - fetched} there already`;
  return [`${done}${there}`, ...(left_out.length === 0 ? [] : [leftOutLine(left_out)]), folder].join('\n');
};

const leftOutLine = (files: CliPull['left_out']): string => {
  const names = [...files].sort((a, b) => b.bytes - a.bytes).map(({ path }) => path);
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return `left out, no run needs them: ${names.slice(0, 3).join(', ')}${more} (${formatBytes(sum(files))})`;
};

const count = (files: number): string => `${files} ${files === 1 ? 'file' : 'files'}`;
