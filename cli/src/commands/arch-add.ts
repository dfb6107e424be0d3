import { addPlugin } from '@kvad/arch-registry';
import type { CliArchAdd } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { registryOptions } from '../plugin-places.js';
import type { Action } from './actions.js';
import { pluginObject } from './plugin-rows.js';

/** `kvad arch add PLUGIN`: npm installs it aside; it is checked, then moved into the user's folder. */
export const archAdd: Action<'arch add'> = async (io, { args, options }) => {
  const places = registryOptions({ plugins: [], workingDirectory: io.cwd, env: io.env });
  const { plugin, replaced } = await addPlugin({ spec: args.plugin, places, env: io.env, signal: io.interrupt });
  const added = pluginObject(plugin);
  if (options.json) {
    await writeJson(io.stdout, { object: 'kvad.arch-add', plugin: added, replaced } satisfies CliArchAdd);
    return 0;
  }
  const brings = [...added.model_types, ...Object.values(added.parts).flat()].join(', ');
  await writeLine(io.stdout, `${replaced ? 'replaced' : 'added'} ${added.name} ${added.version}: ${brings}`);
  await writeLine(io.stdout, `  in ${added.directory}`);
  return 0;
};
