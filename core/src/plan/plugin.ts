import type {
  Activation,
  AttentionMixer,
  Block,
  FeedForward,
  Norm,
  Part,
  Router,
  SharedExpert,
  SideInput,
  Stack,
} from '../axes/parts.js';
import type { Family } from './family.js';

// A part's options are its own business: to the engine they are JSON that the part's schema has accepted.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyPart<T> = Part<T, any>;

export const PLUGIN_API_VERSION = 1;

/** A plugin is plain data. The brand is a string, so that a plugin built against another copy of this package works. */
export interface Plugin {
  readonly $$type: 'kvad.plugin';
  readonly name: string;
  readonly apiVersion: number;
  readonly mixers: readonly AnyPart<AttentionMixer>[];
  readonly feedForwards: readonly AnyPart<FeedForward>[];
  readonly routers: readonly AnyPart<Router>[];
  readonly sharedExperts: readonly AnyPart<SharedExpert>[];
  readonly blocks: readonly AnyPart<Block>[];
  readonly stacks: readonly AnyPart<Stack>[];
  readonly inputs: readonly AnyPart<SideInput>[];
  readonly norms: readonly AnyPart<Norm>[];
  readonly activations: readonly AnyPart<Activation>[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly families: readonly Family<any>[];
}

const NOTHING = {
  mixers: [],
  feedForwards: [],
  routers: [],
  sharedExperts: [],
  blocks: [],
  stacks: [],
  inputs: [],
  norms: [],
  activations: [],
  families: [],
} as const;

export const definePlugin = (plugin: Pick<Plugin, 'name' | 'apiVersion'> & Partial<Omit<Plugin, '$$type'>>): Plugin =>
  Object.freeze({ $$type: 'kvad.plugin' as const, ...NOTHING, ...plugin });

/** A part with its option type checked where it is written. */
export const definePart = <T, O>(part: Part<T, O>): Part<T, O> => Object.freeze(part);
