/** A flag of the command line as data. Help, completion, docs/cli.md and the parser are all made from it. */
export type Flag = SwitchFlag | ValueFlag;

interface FlagBase {
  /** Without dashes: `max-tokens`. A switch named `no-…` is true when it was given. */
  readonly name: string;
  readonly about: string;
  /** One letter, for `-m`. */
  readonly short?: string;
}

export interface SwitchFlag extends FlagBase {
  readonly type: 'switch';
}

export interface ValueFlag extends FlagBase {
  readonly type: 'text' | 'integer' | 'number' | 'choice' | 'file';
  /** How help names the value: `N`, `FILE`. */
  readonly value: string;
  /** What stands where the flag is absent, in words: the table applies no default itself. */
  readonly absent?: string;
  readonly choices?: readonly string[];
  /** Inclusive bounds of a number. */
  readonly min?: number;
  readonly max?: number;
  /** May be given several times; the option is a list. */
  readonly many?: boolean;
}

export interface Argument {
  readonly name: string;
  readonly about: string;
  readonly required: boolean;
  readonly many?: boolean;
  readonly type: 'model' | 'text' | 'file' | 'folder' | 'model-type' | 'choice';
  readonly choices?: readonly string[];
}

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type ValueOf<F extends Flag> = F extends { type: 'switch' }
  ? boolean
  : F extends { many: true }
    ? readonly string[]
    : F extends { type: 'integer' | 'number' }
      ? number | undefined
      : F extends { choices: readonly (infer C)[] }
        ? C | undefined
        : string | undefined;

/** The options object that a command gets, from its list of flags. */
export type OptionsOf<Flags extends readonly Flag[]> = {
  readonly [F in Flags[number] as CamelCase<F['name']>]: ValueOf<F>;
};

/** The positional words that a command gets. */
export type ArgumentsOf<Arguments extends readonly Argument[]> = {
  readonly [A in Arguments[number] as A['name']]: A extends { many: true }
    ? readonly string[]
    : A extends { required: true }
      ? string
      : string | undefined;
};

export const camelCase = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
