const { readFileSync } = require('node:fs');
const { join } = require('node:path');

// The storeys of src/: each imports only itself and what stands before it (docs/architecture.md).
const STOREYS = ['platform', 'data', 'api', 'domain', 'operate', 'main'];
/** The rooms of domain/, and which of the others each may import. */
const ROOMS = {
  people: [],
  suppression: [],
  numbers: [],
  switches: [],
  'value-lists': [],
  caps: ['people'],
  money: ['value-lists'],
  agents: ['people'],
  buyers: ['caps', 'money', 'people', 'value-lists'],
  offers: ['caps', 'money', 'people'],
  routing: ['caps', 'money', 'people', 'value-lists'],
  simulation: ['caps', 'money', 'routing', 'value-lists'],
  leads: ['numbers', 'offers', 'value-lists'],
  schedules: ['offers', 'people', 'value-lists'],
  outreach: ['leads', 'numbers', 'routing', 'schedules', 'switches', 'value-lists'],
  'ping-post': ['money', 'offers', 'routing'],
  calls: [
    ...['caps', 'leads', 'money', 'numbers', 'offers', 'outreach', 'routing', 'schedules'],
    ...['switches', 'value-lists'],
  ],
  telephony: ['calls', 'numbers', 'outreach', 'routing'],
  webhooks: ['calls', 'leads', 'people', 'value-lists'],
  alerts: ['caps', 'people'],
  events: ['agents', 'switches'],
};
const PURE =
  '^src/(domain/(caps|routing|money|schedules)/engine|domain/suppression/csv|platform/(time|tokens))/';

/** The files that src/main/handlers.ts mounts: one for each tag of the contract. */
const NOUNS = readFileSync(join(__dirname, 'src/main/handlers.ts'), 'utf8')
  .split('\n')
  .flatMap((line) => /^import .*'\.\.\/(.+\/.+)';/.exec(line)?.[1] ?? [])
  .filter((file) => !['api/handlers', 'domain/agents/delete-agent', 'domain/deps'].includes(file))
  .map((file) => `^src/${file}\\.ts$`);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...STOREYS.map((storey, index) => ({
      name: `storey-${storey}`,
      comment: 'Imports go down only.',
      severity: 'error',
      from: { path: `^src/${storey}/` },
      to: { path: `^src/(${[...STOREYS.slice(index + 1), 'console'].join('|')})/` },
    })).filter(({ name }) => name !== 'storey-main'),
    ...Object.entries(ROOMS).map(([room, imported]) => ({
      name: `room-${room}`,
      comment: 'Which rooms a room of domain/ may import is a decision: change the matrix.',
      severity: 'error',
      from: { path: `^src/domain/${room}/` },
      to: {
        path: '^src/domain/[^/]+/',
        pathNot: `^src/domain/(${[room, ...imported].join('|')})/`,
      },
    })),
    {
      name: 'rooms-are-in-the-matrix',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: `^src/domain/((${Object.keys(ROOMS).join('|')})/|deps\\.ts)`,
      },
      to: {
        path: '^src/domain/',
        pathNot: `^src/domain/((${Object.keys(ROOMS).join('|')})/|deps\\.ts)`,
      },
    },
    {
      name: 'adapters-know-the-contract',
      comment:
        'An adapter is a client: its process knows the service by its public contract alone.',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(data|api|domain|operate|main|console)/' },
    },
    {
      name: 'nothing-needs-an-adapter',
      severity: 'error',
      from: { path: '^src/(platform|data|api|domain|operate|console)/' },
      to: { path: '^src/adapters/' },
    },
    {
      name: 'console-is-served',
      comment: 'The server part of the console knows the API alone.',
      severity: 'error',
      from: { path: '^src/console/[^/]+$' },
      to: { path: '^src/(domain|operate|main)/' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that import each other cannot be read one after the other.',
      severity: 'error',
      from: { pathNot: '^src/generated' },
      to: { circular: true },
    },
    {
      name: 'deps-only-as-a-type',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/domain/deps\\.ts', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-access-module',
      comment: 'What a caller may see is asked of src/data/access/, whose conditions are its own.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/data/access/' },
      to: { path: '^src/data/access/conditions' },
    },
    {
      name: 'queries-of-a-room',
      comment:
        'SQL of another room is reached through a verb of that room. Those that write calls and leads ' +
        'count caps, money and changes of leads in the same statement.',
      severity: 'error',
      from: { path: '^src/([^/]+/[^/]+)/' },
      to: {
        path: '^src/[^/]+/[^/]+/queries/',
        pathNot: ['^src/$1/', '^src/domain/(caps|money)/queries/'],
      },
    },
    {
      name: 'nouns-only-in-handlers',
      comment:
        'The file of a contract tag is mounted by src/main/handlers.ts; other files use verbs and columns.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/main/handlers\\.ts' },
      to: { path: NOUNS },
    },
    {
      name: 'engines-are-pure',
      comment: 'Decisions reach no database, no HTTP and no settings.',
      severity: 'error',
      // The thread opens the file that the others read.
      from: { path: PURE, pathNot: '^src/domain/suppression/csv/(thread|open-reader)' },
      to: {
        path: [
          '^src/(data|api|operate|main)/',
          '^src/platform/(carriers|mail|storage|egress|config)',
          '^src/domain/deps',
          '/pg/',
          '/express/',
        ],
        pathNot: '^src/(platform/storage/file-format|data/phone/(number-text|parse-number))',
      },
    },
    {
      name: 'console-is-a-client',
      comment: 'What runs in the browser knows the API by its contract alone.',
      severity: 'error',
      from: { path: '^src/console/client/' },
      to: {
        path: '^src/',
        pathNot: '^src/(console/client|console/noun-contract|generated/openapi)',
      },
    },
    {
      name: 'nothing-needs-the-console',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/console/client/' },
      to: { path: '^src/console/client/' },
    },
    {
      name: 'contract-types-stay-at-the-rim',
      severity: 'error',
      from: { path: PURE },
      to: { path: '^src/generated/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/generated/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
  },
};
