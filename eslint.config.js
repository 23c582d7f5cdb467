import js from '@eslint/js';
import globals from 'globals';

import { commentsRule } from './tools/checks/eslint-comments.js';
import { functionLinesMax } from './tools/checks/sizes.js';

export default [
  { ignores: ['build/', 'dist/', 'node_modules/', '.cache/', 'prebuilds/'] },
  js.configs.recommended,
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: globals.node },
    plugins: { millrace: { rules: { comments: commentsRule } } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'millrace/comments': 'error',
      'max-lines-per-function': ['error', { max: functionLinesMax }],
      eqeqeq: ['error', 'always'],
      'no-var': 'error',
      'prefer-const': 'error',
      'no-shadow': 'error',
      'no-throw-literal': 'error',
      'no-implicit-coercion': ['error', { boolean: false }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-empty': ['error', { allowEmptyCatch: true }],
    },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs' } },
  // A suite is one function of many tests.
  { files: ['**/*.test.js'], rules: { 'max-lines-per-function': 'off' } },
  { files: ['demo/page/**'], languageOptions: { globals: globals.browser } },
];
