import type { Io } from '../io/io.js';
import type { Arguments, CommandName, Options } from './table.js';

/** What a command is run with, and the exit code that it gives back; errors are thrown. */
export type Action<Name extends CommandName> = (
  io: Io,
  given: { readonly args: Arguments<Name>; readonly options: Options<Name> },
) => Promise<0 | 1>;

/** The code behind each command, loaded when the command is run. */
export const ACTIONS: { readonly [Name in CommandName]: () => Promise<Action<Name>> } = {
  search: async () => (await import('./search.js')).search,
  pull: async () => (await import('./pull.js')).pull,
  ls: async () => (await import('./ls.js')).ls,
  use: async () => (await import('./use.js')).use,
  rm: async () => (await import('./rm.js')).rm,
  run: async () => (await import('./run.js')).run,
  chat: async () => (await import('./chat.js')).chat,
  info: async () => (await import('./info.js')).info,
  arch: async () => (await import('./arch.js')).arch,
  'arch show': async () => (await import('./arch-show.js')).archShow,
  'arch plan': async () => (await import('./arch-plan.js')).archPlan,
  'arch verify': async () => (await import('./arch-verify.js')).archVerify,
  'arch check': async () => (await import('./arch-check.js')).archCheck,
  'arch new': async () => (await import('./arch-new.js')).archNew,
  'arch add': async () => (await import('./arch-add.js')).archAdd,
  'arch remove': async () => (await import('./arch-remove.js')).archRemove,
  'arch list': async () => (await import('./arch-list.js')).archList,
  logits: async () => (await import('./logits.js')).logits,
  perplexity: async () => (await import('./perplexity.js')).perplexity,
  tokenize: async () => (await import('./tokenize.js')).tokenize,
  render: async () => (await import('./render.js')).render,
  doctor: async () => (await import('./doctor.js')).doctor,
  bench: async () => (await import('./bench.js')).bench,
  cache: async () => (await import('./cache.js')).cache,
  'cache clear': async () => (await import('./cache.js')).cacheClear,
  completions: async () => (await import('./completions.js')).completions,
};
