import { RuleTester } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, it } from 'vitest';
// @ts-expect-error a lint rule, without types
import { injectEveryParameter } from '../../../scripts/eslint/inject-every-parameter.js';

RuleTester.describe = describe;
RuleTester.it = it;

const tester = new RuleTester({ languageOptions: { parser: tseslint.parser } });
const missing = (...names: string[]): { messageId: string; data: Record<string, string> }[] =>
  names.map((parameter) => ({ messageId: 'missing', data: { parameter, class: 'A' } }));

tester.run('inject-every-parameter', injectEveryParameter, {
  valid: [
    '@injectable() class A { constructor(@inject(B) private readonly b: B, @injectAll(C) c: C[]) {} }',
    '@injectable() class A {}',
    '@injectable() class A { constructor() {} }',
    '@injectable() class A { constructor(@di.inject(B) b: B) {} }',
    'class A { constructor(b: B) {} }',
    '@other() class A { constructor(b: B) {} }',
  ],
  invalid: [
    { code: '@injectable() class A { constructor(b: B) {} }', errors: missing('b') },
    { code: '@singleton() class A { constructor(@inject(B) b: B, c: C) {} }', errors: missing('c') },
    { code: '@injectable() class A { constructor(private readonly b: B, c = 1) {} }', errors: missing('b', 'c') },
    { code: '@di.injectable() class A { constructor(@other() b: B) {} }', errors: missing('b') },
    { code: 'export default @injectable() class A { constructor(...rest: B[]) {} }', errors: missing('rest') },
  ],
});
