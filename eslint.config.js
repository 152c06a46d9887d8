const { default: regexp } = require('eslint-plugin-regexp');
const tseslint = require('typescript-eslint');
const { TypeFlags } = require('typescript');

const CUTS = new Set(['slice', 'substring', 'substr']);
/** Fixed parts of times, uuids and digests are shorter than any limit of a text. */
const MIN_LIMIT = 32;

/** Whether an expression is a limit, and not a place that was found in the text. */
function isLimit(node) {
  if (node?.type === 'Literal') return typeof node.value === 'number' && node.value > MIN_LIMIT;
  const name = node?.type === 'MemberExpression' ? node.property.name : node?.name;
  const is_length_of = node?.type === 'MemberExpression' && name === 'length';
  return !is_length_of && /^([A-Z][A-Z\d_]*|(max|limit|length).*)$/.test(name ?? '');
}

/** A limit in UTF-16 units can leave half of an emoji, which PostgreSQL refuses in JSON. */
const cut_text = {
  meta: { type: 'problem', messages: { cut: 'Cut text with cutText of src/storable-text.ts.' } },
  create: ({ report, sourceCode: { parserServices: services } }) => ({
    'CallExpression[callee.type="MemberExpression"]'(node) {
      const [start, limit] = node.arguments;
      const { object, property } = node.callee;
      if (!CUTS.has(property.name) || start?.value !== 0 || !isLimit(limit)) return;
      const type = services.getTypeAtLocation(object);
      const parts = type.isUnion() ? type.types : [type];
      if (parts.some(({ flags }) => flags & TypeFlags.StringLike))
        report({ node, messageId: 'cut' });
    },
  }),
};

/** JSON can name characters that PostgreSQL cannot store. */
const foreign_json = {
  meta: {
    type: 'problem',
    messages: { parse: 'Read what others wrote with parseForeignJson of src/storable-text.ts.' },
  },
  create: ({ report }) => ({
    'CallExpression[callee.object.name="JSON"][callee.property.name="parse"]': (node) =>
      report({ node, messageId: 'parse' }),
    'CallExpression[callee.property.name="json"][arguments.length=0]': (node) =>
      report({ node, messageId: 'parse' }),
  }),
};

const storable = { rules: { 'cut-text': cut_text, 'foreign-json': foreign_json } };

/** Backslashes in templates: in `sql` each stands for itself, and elsewhere in String.raw. */
const BACKSLASHES = [
  {
    selector:
      'TaggedTemplateExpression[tag.name="sql"] > TemplateLiteral > ' +
      'TemplateElement[value.raw=/\\\\[\\\\`$]/]',
    message: 'sql is raw: a backslash stands for itself, and reaches the database.',
  },
  {
    selector:
      ':not(TaggedTemplateExpression) > TemplateLiteral > ' +
      "TemplateElement[value.raw=/\\\\\\\\(?!n')[A-Za-z0-9.]/]",
    message: 'A pattern is written with String.raw, so that its backslashes are those one reads.',
  },
  {
    selector:
      ':not(TaggedTemplateExpression) > TemplateLiteral > ' +
      'TemplateElement[value.raw=/(?:^|[^\\\\])(?:\\\\\\\\)*\\\\[^nrtux`$\\\\\\n]/]',
    message: 'This backslash is lost: a pattern is written with String.raw.',
  },
];

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
    rules: {
      'max-lines-per-function': ['error', { max: 50, skipComments: true }],
      // A pattern whose backslash is lost matches something else, and nothing says so.
      'no-useless-escape': 'error',
      'no-restricted-syntax': ['error', ...BACKSLASHES],
    },
  },
  {
    files: ['src/**'],
    // In db/ statements are composed whose table is a parameter.
    ignores: ['src/**/queries/**', 'src/db/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...BACKSLASHES,
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
    files: ['src/**'],
    // The console is a client, which stores nothing.
    ignores: ['src/storable-text.ts', 'src/console/client/**'],
    plugins: { storable },
    rules: { 'storable/cut-text': 'error' },
  },
  {
    // What speaks with other servers, or reads their answers.
    files: ['src/{egress,carriers,mail,storage,outreach}/**', 'src/routing/{ask,read}-*.ts'],
    plugins: { storable },
    rules: { 'storable/foreign-json': 'error' },
  },
  {
    files: ['src/**'],
    // The build, PostgreSQL's own folder, and the kernel's files.
    ignores: [
      'src/storage/new-file.ts',
      'src/parse-contract.ts',
      'src/db/embedded-password.ts',
      'src/db/embedded-postgres.ts',
      'src/db/lower-priority.ts',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['node:fs', 'node:fs/promises'].map((name) => ({
            name,
            importNames: [
              ...['createWriteStream', 'writeFile', 'writeFileSync', 'appendFile'],
              ...['appendFileSync', 'copyFile', 'copyFileSync', 'cp', 'cpSync'],
            ],
            message: 'storage/new-file.ts writes files: new ones, which only this user may read.',
          })),
        },
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
      'src/db/postgres-program.ts',
      'tests/**',
      'scripts/**',
      'prisma.config.ts',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-exports': 'off' },
  },
);
