const tseslint = require('typescript-eslint');

module.exports = tseslint.config(
  {
    ignores: [
      '.dependency-cruiser.js',
      'tests/support/*.js',
      'dist/',
      '.data/',
      '.bench/',
      'src/generated/',
      'eslint.config.js',
      'jest*.config.js',
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
