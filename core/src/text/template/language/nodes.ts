import type { ArithmeticOperator } from '../python/numbers.js';
import type { Comparison } from '../python/operators.js';
import type { Value } from '../python/values.js';

/** What stands in the brackets of a call, a filter or a test; the last two are `*more` and `**more`. */
export interface CallArguments {
  readonly args: readonly Expression[];
  readonly named: readonly { readonly name: string; readonly value: Expression }[];
  readonly moreArgs: Expression | null;
  readonly moreNamed: Expression | null;
}

/** A template as a tree: what has a value. Lines count from 1. */
export type Expression = { readonly line: number } & (
  | { readonly type: 'const'; readonly value: Value }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'tuple'; readonly items: readonly Expression[] }
  | { readonly type: 'list'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | {
      readonly type: 'condition';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | null;
    }
  | { readonly type: 'and'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'not'; readonly of: Expression }
  | { readonly type: 'sign'; readonly op: '+' | '-'; readonly of: Expression }
  | {
      readonly type: 'arithmetic';
      readonly op: ArithmeticOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'concat'; readonly parts: readonly Expression[] }
  | {
      readonly type: 'compare';
      readonly first: Expression;
      readonly rest: readonly (readonly [Comparison, Expression])[];
    }
  | { readonly type: 'attribute'; readonly of: Expression; readonly name: string }
  | { readonly type: 'item'; readonly of: Expression; readonly key: Expression }
  | {
      readonly type: 'slice';
      readonly of: Expression;
      readonly start: Expression | null;
      readonly stop: Expression | null;
      readonly step: Expression | null;
    }
  | ({ readonly type: 'call'; readonly of: Expression } & CallArguments)
  /** `of` is null in a filter block: its text. */
  | ({ readonly type: 'filter'; readonly of: Expression | null; readonly name: string } & CallArguments)
  | ({ readonly type: 'test'; readonly of: Expression; readonly name: string } & CallArguments)
);

export type Call = Extract<Expression, { type: 'call' }>;

export type Filter = Extract<Expression, { type: 'filter' }>;

/** What a value is given to. */
export type Target = { readonly line: number } & (
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'field'; readonly name: string; readonly field: string }
  | { readonly type: 'tuple'; readonly items: readonly Target[] }
);

export interface Signature {
  readonly params: readonly string[];
  /** Of the last parameters. */
  readonly defaults: readonly Expression[];
}

/** A template as a tree: what is done, one after the other. */
export type Statement = { readonly line: number } & (
  | { readonly type: 'output'; readonly parts: readonly (string | Expression)[] }
  | {
      readonly type: 'for';
      readonly target: Target;
      readonly of: Expression;
      readonly test: Expression | null;
      readonly recursive: boolean;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  | {
      readonly type: 'if';
      /** `if` and each `elif`. */
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    }
  | { readonly type: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly type: 'set-block';
      readonly target: Target;
      readonly filter: Filter | null;
      readonly body: readonly Statement[];
    }
  | {
      readonly type: 'with';
      readonly targets: readonly Target[];
      readonly values: readonly Expression[];
      readonly body: readonly Statement[];
    }
  | ({ readonly type: 'macro'; readonly name: string; readonly body: readonly Statement[] } & Signature)
  | ({ readonly type: 'call-block'; readonly call: Call; readonly body: readonly Statement[] } & Signature)
  | { readonly type: 'filter-block'; readonly filter: Filter; readonly body: readonly Statement[] }
  | {
      readonly type: 'block';
      readonly name: string;
      readonly scoped: boolean;
      readonly required: boolean;
      readonly body: readonly Statement[];
    }
  | { readonly type: 'autoescape'; readonly on: Expression; readonly body: readonly Statement[] }
  /** `{% generation %}`: what a model answered; its body is printed. */
  | { readonly type: 'generation'; readonly body: readonly Statement[] }
  /** `extends`, `include`, `import`, `from`: there is no other template. */
  | {
      readonly type: 'other-template';
      readonly tag: string;
      readonly template: Expression;
      readonly names: readonly string[];
    }
  | { readonly type: 'break' }
  | { readonly type: 'continue' }
);

export type Node = Statement | Expression;
