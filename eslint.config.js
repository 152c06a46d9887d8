const { default: regexp } = require('eslint-plugin-regexp');
const tseslint = require('typescript-eslint');

module.exports = tseslint.config(
  {
    ignores: [
      '.dependency-cruiser.js',
      'scripts/bench/bidders.js',
      'tests/support/*.js',
      'dist/',
      '.data/',
      '.bench/',
      'src/generated/',
      'tests/clients/drivers/',
      'eslint.config.js',
      'jest*.config.js',
    ],
  },
  ...tseslint.configs.strict,
  {
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json', './src/console/client/tsconfig.json'] },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-namespace': 'off',
      'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
      'max-params': ['error', 4],
      'no-nested-ternary': 'error',
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
  {
    // Scripts of pages: no part of the TypeScript project.
    files: ['assets/**'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    // A pattern takes a time that is linear in the length of the text, which can come from anyone.
    files: ['src/**', 'scripts/**', 'assets/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': [
        'error',
        { report: 'potential', ignorePartial: false, ignoreSticky: false },
      ],
    },
  },
  {
    files: ['src/**', 'scripts/**'],
    rules: { 'max-lines-per-function': ['error', { max: 50, skipComments: true }] },
  },
  {
    files: ['src/**'],
    // In db/ statements are composed whose table is a parameter.
    ignores: ['src/**/queries/**', 'src/db/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['Literal[value=SQL]', 'TemplateElement[value.raw=SQL]'].map((selector) => ({
          selector: selector.replace(
            'SQL',
            '/^\\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\\s/',
          ),
          message: 'SQL is a registered statement of <room>/queries/ (docs/architecture.md).',
        })),
      ],
    },
  },
  {
    files: ['tests/**'],
    rules: {
      'max-params': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: [
      'src/config.ts',
      'src/db/embedded-postgres.ts',
      'tests/**',
      'scripts/**',
      'prisma.config.ts',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-exports': 'off' },
  },
);
