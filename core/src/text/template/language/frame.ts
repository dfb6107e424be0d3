import type { Filter, Test } from '../builtins/types.js';
import type { Value } from '../python/values.js';
import type { Scope } from './scope.js';
import { Symbols, type Variable } from './symbols.js';
import { TemplateSyntaxError } from './syntax-error.js';

/** Filters and tests by name; undefined: there is none. */
export interface Builtins {
  filter(name: string): Filter | undefined;
  test(name: string): Test | undefined;
}

/** Where the variables of a function get their places. */
export class FunctionPlaces {
  readonly parent: FunctionPlaces | null;
  /** Scopes of lower levels belong to the functions around. */
  readonly level: number;
  readonly #places = new Map<string, number>();

  constructor(parent: FunctionPlaces | null, level: number) {
    this.parent = parent;
    this.level = level;
  }

  placeOf({ id }: Variable): number {
    const known = this.#places.get(id);
    if (known !== undefined) return known;
    const place = this.#places.size;
    this.#places.set(id, place);
    return place;
  }
}

/** Whether what is printed is escaped: as the code around says, or (null) as it stands when it runs. */
export type Escaping = boolean | null;

interface FrameState {
  readonly symbols: Symbols;
  readonly places: FunctionPlaces;
  readonly builtins: Builtins;
  /** Outside of loops, macros and blocks: what is assigned here can be seen by blocks. */
  readonly isTop: boolean;
  /** Perhaps never run: names of filters and tests are looked up when it is. */
  readonly isSoft: boolean;
  /** Inside a loop of the same function. */
  readonly inLoop: boolean;
  readonly escaping: Escaping;
}

/** A place in a template while it is compiled: which names it sees, and what it is part of. */
export class Frame {
  readonly #state: FrameState;

  private constructor(state: FrameState) {
    this.#state = state;
  }

  /** Of a template, or of a block. */
  static root(builtins: Builtins, isTop: boolean): Frame {
    const state = { builtins, isTop, isSoft: false, inLoop: false, escaping: false };
    return new Frame({ ...state, symbols: new Symbols(null), places: new FunctionPlaces(null, 0) });
  }

  get symbols(): Symbols {
    return this.#state.symbols;
  }
  get places(): FunctionPlaces {
    return this.#state.places;
  }
  get isTop(): boolean {
    return this.#state.isTop;
  }
  get isSoft(): boolean {
    return this.#state.isSoft;
  }
  get inLoop(): boolean {
    return this.#state.inLoop;
  }

  filters(name: string): Filter | undefined {
    return this.#state.builtins.filter(name);
  }
  tests(name: string): Test | undefined {
    return this.#state.builtins.test(name);
  }

  /** A scope inside this one, in the same function. */
  inner(inLoop = this.inLoop): Frame {
    return new Frame({ ...this.#state, inLoop, symbols: new Symbols(this.symbols), isTop: false, isSoft: false });
  }

  /** This scope as the inside of a loop. */
  looping(): Frame {
    return new Frame({ ...this.#state, inLoop: true });
  }

  /** Another scope of the same function, around which there is what is around this one. */
  beside(): Frame {
    return new Frame({ ...this.#state, symbols: this.symbols.beside() });
  }

  /** A scope inside this one that is a function of its own. */
  innerFunction(): Frame {
    const symbols = new Symbols(this.symbols);
    const places = new FunctionPlaces(this.places, symbols.level);
    return new Frame({ ...this.#state, symbols, places, isTop: false, isSoft: false, inLoop: false });
  }

  soft(): Frame {
    return this.isSoft ? this : new Frame({ ...this.#state, isSoft: true });
  }

  escaping(escaping: Escaping): Frame {
    return new Frame({ ...this.#state, escaping });
  }

  /** Whether texts are escaped here, when it runs. */
  escapes(scope: Scope): boolean {
    return this.#state.escaping ?? scope.runtime.autoescape;
  }

  variable(name: string, line: number): Variable {
    const variable = this.symbols.find(name);
    if (variable === undefined) throw new TemplateSyntaxError(`the name ${name} cannot be used here`, line);
    return variable;
  }

  reader(name: string, line: number): (scope: Scope) => Value | undefined {
    return this.read(this.variable(name, line));
  }

  read(variable: Variable): (scope: Scope) => Value | undefined {
    const { hops, place } = this.#locate(variable);
    if (hops === 0) return (scope) => scope.variables[place];
    if (hops === 1) return (scope) => scope.parent!.variables[place]!;
    return (scope) => owner(scope, hops).variables[place];
  }

  /** Variables are assigned in their own function only. */
  write(variable: Variable): (scope: Scope, value: Value | undefined) => void {
    const { hops, place } = this.#locate(variable);
    return (scope, value) => {
      owner(scope, hops).variables[place] = value;
    };
  }

  #locate(variable: Variable): { hops: number; place: number } {
    let places = this.places;
    let hops = 0;
    while (variable.level < places.level) {
      places = places.parent!;
      hops++;
    }
    return { hops, place: places.placeOf(variable) };
  }

  /** What happens to the variables of this scope when it is entered. */
  enter(): (scope: Scope) => void {
    const loads = [...this.symbols.loads].flatMap(({ variable, load }) => {
      const set = this.write(variable);
      if (load.from === 'parameter') return [];
      if (load.from === 'nothing') return [(scope: Scope) => set(scope, undefined)];
      if (load.from === 'context') return [(scope: Scope) => set(scope, scope.context.resolve(load.name))];
      const get = this.read(load.variable);
      return [(scope: Scope) => set(scope, get(scope))];
    });
    return runAll(loads);
  }

  /** What happens to them when it is left. */
  leave(): (scope: Scope) => void {
    const sets = [...this.symbols.loads].map(({ variable }) => this.write(variable));
    return runAll(sets.map((set) => (scope: Scope) => set(scope, undefined)));
  }
}

const runAll = (steps: readonly ((scope: Scope) => void)[]): ((scope: Scope) => void) => {
  if (steps.length === 0) return () => undefined;
  return (scope) => {
    for (const step of steps) step(scope);
  };
};

const owner = (scope: Scope, hops: number): Scope => {
  let at = scope;
  for (let hop = 0; hop < hops; hop++) at = at.parent!;
  return at;
};
