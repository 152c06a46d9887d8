const { readFileSync } = require('node:fs');
const { join } = require('node:path');

// The order of the rooms of src/: each may import only what stands before it. Several rooms of one
// line do not import each other.
const ORDER = [
  ['telemetry'],
  ['db', 'time', 'tokens', 'carriers', 'mail', 'storage'],
  ['phone', 'http', 'egress', 'jobs'],
  ['people', 'suppression', 'numbers'],
  ['value-lists', 'accounts'],
  ['agents', 'buyers'],
  ['offers'],
  ['schedules', 'routing', 'leads'],
  ['outreach', 'ping-post'],
  ['calls'],
  ['telephony', 'webhooks', 'alerts', 'events', 'console'],
];
/** Files that know every room, or start the program. */
const COMPOSITION =
  '^src/(background|backup|cells|cli|erasure|installation|migration|processes|retention|(app|handlers|server|worker)\\.ts)';
const PURE = '^src/(routing/engine|schedules/engine|suppression/csv|time|tokens)/';

const rooms = ORDER.flat();
/** The files that handlers.ts mounts: one for each tag of the contract. */
const NOUNS = readFileSync(join(__dirname, 'src/handlers.ts'), 'utf8')
  .split('\n')
  .flatMap((line) => /^import .*'\.\/(.+\/.+)';/.exec(line)?.[1] ?? [])
  .filter((file) => !['http/handlers', 'agents/delete-agent'].includes(file))
  .map((file) => `^src/${file}\\.ts$`);

const folder = (names) => `^src/(${names.join('|')})/`;

const orderOf = (room, line) => ({
  name: `order-${room}`,
  comment: `${room}/ may import only the rooms that stand before it (docs/architecture.md).`,
  severity: 'error',
  from: { path: folder([room]) },
  to: {
    path: folder([...ORDER[line].filter((name) => name !== room), ...ORDER.slice(line + 1).flat()]),
  },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...ORDER.flatMap((line, at) => line.map((room) => orderOf(room, at))),
    {
      name: 'no-cycles',
      comment: 'Two files that import each other cannot be read one after the other.',
      severity: 'error',
      from: { pathNot: '^src/(generated|deps)' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'rooms-do-not-know-the-composition',
      severity: 'error',
      from: { path: folder(rooms) },
      to: { path: COMPOSITION },
    },
    {
      name: 'deps-only-as-a-type',
      severity: 'error',
      from: { path: folder(rooms) },
      to: { path: '^src/deps\\.ts', dependencyTypesNot: ['type-only'] },
    },
    ...rooms.map((room) => ({
      name: `queries-of-${room}`,
      comment: 'SQL of another room is reached through a verb of that room.',
      severity: 'error',
      from: { path: '^src/', pathNot: folder([room]) },
      to: { path: `^src/${room}/(simulation/)?queries/` },
    })),
    {
      name: 'nouns-only-in-handlers',
      comment:
        'The file of a contract tag is mounted by handlers.ts; other files use verbs and columns.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/handlers\\.ts' },
      to: { path: NOUNS },
    },
    {
      name: 'engines-are-pure',
      comment: 'Decisions reach no database, no HTTP and no settings.',
      severity: 'error',
      // The thread opens the file that the others read.
      from: { path: PURE, pathNot: '^src/suppression/csv/(thread|open-reader)' },
      to: {
        path: [
          '^src/(db|http|jobs|carriers|mail|storage)',
          '^src/(config|deps)',
          '/pg/',
          '/express/',
        ],
        pathNot: '^src/storage/file-format',
      },
    },
    {
      name: 'console-is-a-client',
      comment: 'What runs in the browser knows the API by its contract alone.',
      severity: 'error',
      from: { path: '^src/console/client/' },
      to: { path: '^src/', pathNot: '^src/(console/client|generated/openapi)' },
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
