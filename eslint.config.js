const { default: regexp } = require('eslint-plugin-regexp');
const tseslint = require('typescript-eslint');
const { TypeFlags } = require('typescript');
// Also counted by scripts/house/names.ts.
const { nameless, openers } = require('./scripts/plain-words.json');

const CUTS = new Set(['slice', 'substring', 'substr']);
/** Fixed parts of times, uuids and digests are shorter than any limit of a text. */
const MIN_LIMIT = 32;

/** A limit is a constant or a large number; an index that was computed from the text is none. */
function isLimit(node) {
  if (node?.type === 'Literal') return typeof node.value === 'number' && node.value > MIN_LIMIT;
  const name = node?.type === 'MemberExpression' ? node.property.name : node?.name;
  const isLengthOf = node?.type === 'MemberExpression' && name === 'length';
  return !isLengthOf && /^([A-Z][A-Z\d_]*|(max|limit|length).*)$/.test(name ?? '');
}

/** A limit in UTF-16 units can leave half of an emoji, which PostgreSQL refuses in JSON. */
const cutText = {
  meta: {
    type: 'problem',
    messages: { cut: 'Cut text with cutText of src/platform/storable-text.ts.' },
  },
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
const foreignJson = {
  meta: {
    type: 'problem',
    messages: {
      parse: 'Read what others wrote with parseForeignJson of src/platform/storable-text.ts.',
    },
  },
  create: ({ report }) => ({
    'CallExpression[callee.object.name="JSON"][callee.property.name="parse"]': (node) =>
      report({ node, messageId: 'parse' }),
    'CallExpression[callee.property.name="json"][arguments.length=0]': (node) =>
      report({ node, messageId: 'parse' }),
  }),
};

const storable = { rules: { 'cut-text': cutText, 'foreign-json': foreignJson } };

const FUNCTIONS = new Set(['ArrowFunctionExpression', 'FunctionExpression']);

/** `nameOf(row)` is an attribute of a row. With more arguments it does something: a verb says it. */
const attributeOf = {
  meta: { type: 'problem', messages: { verb: 'Begin the name of this function with a verb.' } },
  create: ({ report }) => ({
    FunctionDeclaration({ id, params }) {
      if (/[a-z]Of$/.test(id?.name ?? '') && params.length !== 1)
        report({ node: id, messageId: 'verb' });
    },
    VariableDeclarator({ id, init }) {
      if (/[a-z]Of$/.test(id.name ?? '') && FUNCTIONS.has(init?.type) && init.params.length !== 1)
        report({ node: id, messageId: 'verb' });
    },
  }),
};

const OPENER = new RegExp(`^[/*\\s]*(${openers.join('|')})\\b`);
const RIDDLE = /\b(told|whoever|anew|beside|nobody)\b/i;

/** A comment has a subject, in plain words. */
const plainComments = {
  meta: {
    type: 'problem',
    messages: {
      opener: 'A comment begins with its subject, not with "{{word}}".',
      word: 'Say it in plain words, without "{{word}}".',
    },
  },
  create: ({ report, sourceCode }) => ({
    Program() {
      const comments = sourceCode.getAllComments();
      const continues = (comment, index) => {
        const before = comments[index - 1];
        return (
          comment.type === 'Line' &&
          before?.type === 'Line' &&
          before.loc.end.line === comment.loc.start.line - 1
        );
      };
      comments.forEach((comment, index) => {
        const opener = continues(comment, index) ? null : OPENER.exec(comment.value);
        const word = RIDDLE.exec(comment.value);
        if (opener) report({ loc: comment.loc, messageId: 'opener', data: { word: opener[1] } });
        if (word) report({ loc: comment.loc, messageId: 'word', data: { word: word[1] } });
      });
    },
  }),
};

const plain = { rules: { 'attribute-of': attributeOf, comments: plainComments } };

/** Destructured with a default, carriers' fields and settings keep their names. */
const NAMES_OF_PARAMETERS = ['camelCase', 'PascalCase', 'UPPER_CASE'];

/** Parts of one statement run in no order; what needs one is a procedure in prisma/sql/. */
const FORCED_ORDER = [
  {
    selector:
      'TaggedTemplateExpression[tag.name="sql"] > TemplateLiteral > ' +
      'TemplateElement[value.raw=/\\b\\w+\\.n >= 0|count\\(\\*\\) >= 0/]',
    message: 'No count forces the order of parts: write a procedure, statement after statement.',
  },
];

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
    plugins: { plain },
    rules: {
      'plain/attribute-of': 'error',
      'plain/comments': 'error',
      'id-denylist': ['error', ...nameless],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'variable', format: ['camelCase', 'PascalCase', 'UPPER_CASE'] },
        { selector: 'parameter', format: NAMES_OF_PARAMETERS, leadingUnderscore: 'allow' },
        { selector: 'function', format: ['camelCase', 'PascalCase'] },
        { selector: 'typeLike', format: ['PascalCase'] },
        // Taken from a row or a body, a value keeps the name that it has there.
        { selector: ['variable', 'parameter'], modifiers: ['destructured'], format: null },
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-namespace': 'off',
      'max-lines': ['error', { max: 500, skipBlankLines: false, skipComments: false }],
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
      'max-lines-per-function': ['error', { max: 70, skipComments: true }],
      // A pattern whose backslash is lost matches something else, and nothing says so.
      'no-useless-escape': 'error',
      'no-restricted-syntax': ['error', ...FORCED_ORDER, ...BACKSLASHES],
    },
  },
  {
    files: ['src/**'],
    // In db/ statements are composed whose table is a parameter.
    ignores: ['src/**/queries/**', 'src/data/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...FORCED_ORDER,
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
    ignores: ['src/platform/storable-text.ts', 'src/console/client/**'],
    plugins: { storable },
    rules: { 'storable/cut-text': 'error' },
  },
  {
    // What speaks with other servers, or reads their answers.
    files: ['src/{egress,carriers,mail,storage,outreach}/**', 'src/domain/routing/{ask,read}-*.ts'],
    plugins: { storable },
    rules: { 'storable/foreign-json': 'error' },
  },
  {
    files: ['src/**'],
    // The build, PostgreSQL's own folder, and the kernel's files.
    ignores: [
      'src/platform/storage/new-file.ts',
      'src/platform/contract/parse-contract.ts',
      'src/data/postgres/embedded-postgres.ts',
      'src/data/postgres/lower-priority.ts',
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
      'src/main/config.ts',
      'src/data/postgres/postgres-program.ts',
      'tests/**',
      'scripts/**',
      'prisma.config.ts',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-exports': 'off' },
  },
);
