const tseslint = require('typescript-eslint');

/** Layers, lowest first in meaning: a file may not import from the folders named for it. */
const forbid = (files, folders, message) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: folders, message }] }] },
});

module.exports = tseslint.config(
  {
    ignores: [
      'tests/support/*.js',
      'dist/',
      '.data/',
      '.bench/',
      'src/generated/',
      'eslint.config.js',
      'jest.config.js',
    ],
  },
  ...tseslint.configs.strict,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-namespace': 'off',
      'max-lines': ['error', { max: 900, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true } }],
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'config.ts is the only reader of the environment.',
        },
      ],
      eqeqeq: 'error',
    },
  },
  forbid(
    ['src/http/**'],
    ['**/resources/*', '**/handlers', '!./handlers', '**/workflows/*'],
    'http/ knows no resource.',
  ),
  forbid(
    ['src/resources/**'],
    ['**/resources/*', '**/app', '**/server'],
    'A resource imports no other resource.',
  ),
  forbid(['src/workflows/**'], ['**/resources/*', '**/handlers'], 'A workflow knows no resource.'),
  forbid(
    ['src/routing/**', 'src/schedules/**', 'src/tokens/**', 'src/imports/**'],
    ['**/db/*', '**/http/*', '**/resources/*', '**/generated/*', 'express', 'pg'],
    'Decisions are pure.',
  ),
  {
    files: ['tests/**'],
    rules: {
      'max-params': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/config.ts', 'src/db/embedded.ts', 'tests/**', 'scripts/**', 'prisma.config.ts'],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-exports': 'off' },
  },
);
