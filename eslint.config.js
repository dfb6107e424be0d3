import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import kvad from './scripts/eslint/plugin.js';

const NODE_GLOBALS = Object.fromEntries(
  ['Buffer', 'URL', 'console', 'process', 'performance', 'setTimeout', 'clearTimeout', 'structuredClone'].map(
    (name) => [name, 'readonly'],
  ),
);

export default defineConfig(
  globalIgnores(['**/dist/', '**/generated/', '**/node_modules/', 'test/fixtures/', 'test-results/', '.cache/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  {
    files: ['**/*.{js,mjs}'],
    extends: [tseslint.configs.strict],
    languageOptions: { globals: NODE_GLOBALS },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    plugins: { kvad },
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['vitest.config.ts'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'kvad/inject-every-parameter': 'error',

      // The few rules that need types and find what no reader sees: a promise that nobody waits for.
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],

      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Typed arrays are read in bounds that the loop has set; `!` is how that is said.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Objects of closures and of plain functions read the same.
      '@typescript-eslint/method-signature-style': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',

      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name="skip"]',
          message: 'A test that does not run proves nothing.',
        },
        { selector: 'CallExpression[callee.property.name="only"]', message: 'Left over from debugging.' },
      ],
      // `!= null`: neither null nor absent, as the keys of a config are read.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // Typed arrays of a vocabulary are walked by index: an iterator costs several times as much.
      '@typescript-eslint/prefer-for-of': 'off',
      'no-console': 'error',
      'prefer-template': 'error',
      'object-shorthand': 'error',
    },
  },
  { files: ['scripts/**'], rules: { 'no-console': 'off' } },
  {
    // CommonJS, so that `kvad --version` starts without the loader of ES modules.
    files: ['cli/bin/*.js'],
    languageOptions: { sourceType: 'commonjs' },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
