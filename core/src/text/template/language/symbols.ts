import { fieldOwners, readNames, targetNames } from './names.js';
import type { Expression, Statement, Target } from './nodes.js';

/**
 * Where names of a template live, as Python's jinja2 decides it before anything runs: a name that a scope assigns is a
 * variable of that scope, in all of it; one that it only reads is the variable of the nearest scope around that has it,
 * else it is looked up among what the template was given, once, when the scope is entered.
 */

/** What a variable is when its scope is entered. */
export type Load =
  | {
      readonly from: 'parameter';
    }
  | {
      readonly from: 'context';
      readonly name: string;
    }
  | {
      readonly from: 'variable';
      readonly variable: Variable;
    }
  | {
      readonly from: 'nothing';
    };

/** A name at a level of scopes. */
export interface Variable {
  readonly id: string;
  readonly level: number;
}

export class Symbols {
  readonly level: number;
  readonly #parent: Symbols | null;
  #refs = new Map<string, Variable>();
  #loads = new Map<string, { readonly variable: Variable; readonly load: Load }>();
  #stores = new Set<string>();

  constructor(parent: Symbols | null) {
    this.#parent = parent;
    this.level = parent === null ? 0 : parent.level + 1;
  }

  get loads(): Iterable<{
    readonly variable: Variable;
    readonly load: Load;
  }> {
    return this.#loads.values();
  }

  /** An empty scope at the same place. */
  beside(): Symbols {
    return new Symbols(this.#parent);
  }

  /** The variable of a name; undefined: nothing in this scope or around it reads or assigns it. */
  find(name: string): Variable | undefined {
    return this.#refs.get(name) ?? this.#parent?.find(name);
  }

  /** Names that were assigned here or around, with their variables. */
  stored(): Map<string, Variable> {
    const found = this.#parent?.stored() ?? new Map();
    for (const name of this.#stores) found.set(name, this.find(name));
    return found;
  }

  parameter(name: string): Variable {
    this.#stores.add(name);
    return this.#define(name, { from: 'parameter' });
  }

  read(name: string): void {
    if (this.find(name) === undefined) this.#define(name, { from: 'context', name });
  }

  store(name: string): void {
    this.#stores.add(name);
    if (this.#refs.has(name)) return;
    const outer = this.#parent?.find(name);
    this.#define(name, outer === undefined ? { from: 'nothing' } : { from: 'variable', variable: outer });
  }

  /** The names of statements, those of inner scopes left out. */
  visit(nodes: readonly Statement[]): void {
    for (const node of nodes) this.#statement(node);
  }

  readAll(expression: Expression | null): void {
    readNames(expression, (name) => this.read(name));
  }

  assign(target: Target): void {
    // In the order in which they are written.
    if (target.type === 'tuple') target.items.forEach((item) => this.assign(item));
    targetNames(target.type === 'tuple' ? { ...target, items: [] } : target).forEach((name) => this.store(name));
    fieldOwners(target.type === 'tuple' ? { ...target, items: [] } : target).forEach((name) => this.read(name));
  }

  #define(name: string, load: Load): Variable {
    const variable = { id: `${this.level}.${name}`, level: this.level };
    this.#refs.set(name, variable);
    this.#loads.set(variable.id, { variable, load });
    return variable;
  }

  #statement(node: Statement): void {
    switch (node.type) {
      case 'output':
        node.parts.forEach((part) => this.readAll(typeof part === 'string' ? null : part));
        break;
      case 'if':
        this.#branches(node.branches, node.otherwise);
        break;
      case 'set':
        this.readAll(node.value);
        this.assign(node.target);
        break;
      case 'set-block':
        this.assign(node.target);
        break;
      case 'for':
        this.readAll(node.of);
        break;
      case 'with':
        node.values.forEach((value) => this.readAll(value));
        break;
      case 'macro':
        this.store(node.name);
        break;
      case 'call-block':
        this.readAll(node.call);
        break;
      case 'filter-block':
        this.readAll(node.filter);
        break;
      case 'other-template':
        this.readAll(node.template);
        node.names.forEach((name) => this.store(name));
        break;
      case 'block':
      case 'autoescape':
      case 'generation':
      case 'break':
      case 'continue':
        break;
    }
  }

  #branches(
    branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[],
    otherwise: readonly Statement[],
  ): void {
    const [first, ...others] = branches;
    this.readAll(first!.test);
    const body = this.#copy();
    body.visit(first!.body);
    const elifs = this.#copy();
    for (const branch of others) elifs.#branches([branch], []);
    const last = this.#copy();
    last.visit(otherwise);
    this.#join([body, elifs, last]);
  }

  #copy(): Symbols {
    const copy = new Symbols(this.#parent);
    copy.#refs = new Map(this.#refs);
    copy.#loads = new Map(this.#loads);
    copy.#stores = new Set(this.#stores);
    return copy;
  }

  /** A name that a branch assigns had a value before, for the case that another branch runs. */
  #join(branches: readonly Symbols[]): void {
    const stores = new Set(branches.flatMap((branch) => [...branch.#stores]).filter((name) => !this.#stores.has(name)));
    for (const branch of branches) {
      for (const [name, variable] of branch.#refs) this.#refs.set(name, variable);
      for (const [id, load] of branch.#loads) this.#loads.set(id, load);
      for (const name of branch.#stores) this.#stores.add(name);
    }
    for (const name of stores) {
      const variable = this.find(name)!;
      const outer = this.#parent?.find(name);
      const load: Load = outer === undefined ? { from: 'context', name } : { from: 'variable', variable: outer };
      this.#loads.set(variable.id, { variable, load });
    }
  }
}
