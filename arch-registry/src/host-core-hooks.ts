/** Runs where module hooks do (host-core.ts): answers the specifiers it was given, and leaves all others alone. */
import type { InitializeHook, ResolveHook } from 'node:module';

let urls: Readonly<Record<string, string>> = {};

export const initialize: InitializeHook<Readonly<Record<string, string>>> = (data) => {
  urls = data;
};

export const resolve: ResolveHook = (specifier, context, next) => {
  const url = Object.hasOwn(urls, specifier) ? urls[specifier] : undefined;
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
};
