import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { constants, gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { to } from 'pg-copy-streams';
import { createBusyDemo } from '../src/main/demo/demo';
import { CREATE_QUEUE } from '../src/data/jobs/queries/job';
import { migrate, migrationNames, MIGRATIONS_TABLE } from '../src/data/postgres/migrate';
import { listTables, listUsedSequences } from '../src/data/postgres/whole-tables';
import { withClient } from '../src/data/postgres/with-client';
import { sqlOn } from '../src/data/sql';
import { JOBS } from '../src/operate/backup/manifest';
import { JOB_COLUMNS } from '../src/operate/backup/queries/snapshot';
import { backUp } from '../src/operate/backup/back-up';
import { openInstallation } from '../src/operate/installation/open';
import { contract, type Operation } from '../src/platform/contract/contract';
import { createFixture } from '../tests/support/example';
import { createFolder, prepareDatabase } from '../tests/support/global-setup';
import globalTeardown from '../tests/support/global-teardown';
import { findReleaseFile, type KeptCompany } from '../tests/support/kept-release';
import {
  caller,
  createWorld,
  emptyDatabase,
  PEPPER_OF_TESTS,
  testConfig,
  type Api,
  type World,
} from '../tests/support/world';

// Keeps an installation of this release, from which the following releases are upgraded by tests:
// `npm run keep-release -- 1.0`, once, on the commit of the release. The folder of a release has its
// database as a script for psql, how it answered together with the stored files, and a backup.

/** A Friday, at ten in the morning in Los Angeles. */
const NOW = new Date('2026-11-27T18:00:00Z');

async function main(version: string | undefined): Promise<void> {
  if (!version || !/^\d+\.\d+$/.test(version)) throw new Error('npm run keep-release -- 1.0');
  const folder = findReleaseFile(version, '');
  mkdirSync(folder);
  await prepareDatabase(createFolder());
  const storage = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'storage-'));
  const environment = { STORAGE_DIR: storage };
  const world = await createWorld({ clock: () => NOW, environment });
  try {
    // Records the pepper, the storage and the settings.
    const config = testConfig({ ...environment, ...world.database });
    await (await openInstallation(config, { kind: 'server' })).close();
    const companies = [await makeDemo(world), await makeExample(world)];
    const answers = {
      ...{ version, at: NOW.toISOString(), pepper: PEPPER_OF_TESTS },
      ...{ migrations: migrationNames(), companies, files: readFolder(storage) },
    };
    const source = { ...world.deps, session_url: world.url };
    await backUp(source, join(folder, 'backup.tar.gz'));
    keep(folder, 'answers.json.gz', JSON.stringify(answers));
    keep(folder, 'database.sql.gz', await dumpDatabase(world.url));
  } finally {
    await world.close();
    await globalTeardown();
  }
}

const keep = (folder: string, name: string, content: string): void =>
  writeFileSync(join(folder, name), gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));

/** A day of calls and leads. Its webhooks and jobs are as a stop has left them. */
async function makeDemo(world: World): Promise<KeptCompany> {
  const options = { now: NOW, seed: 'release', calls: 160, leads: 60 };
  const { credentials } = await createBusyDemo(world.deps, 'Busy', options);
  const auth = `${credentials.public_key}:${credentials.private_key}`;
  const api = caller(world.app, auth);
  const { buyers } = (await api('get', 'buyers')).body;
  const [first, second] = (buyers as { id: number }[]).map(({ id }) => id);
  await sendAll(api, [
    { method: 'put', path: `buyers/${first}`, body: { prepaid: true, credit_limit: 5_000 } },
    { method: 'post', path: 'account_entries', body: { ...DEPOSIT, buyer_id: first } },
    { method: 'post', path: 'statements', body: { ...PERIOD, buyer_id: second } },
  ]);
  return describeCompany('Busy', auth, api);
}

const DEPOSIT = { kind: 'deposit', amount: 300 };
const PERIOD = { from: '2026-11-26T00:00:00Z', to: '2026-11-27T12:00:00Z' };

/** A record of each resource, and a row of each table. */
async function makeExample(world: World): Promise<KeptCompany> {
  const { api, auth, id } = world.company;
  const { ids } = await createFixture(world);
  await sendAll(api, listFurtherRequests(ids));
  for (const [text, ...tables] of FURTHER_ROWS)
    await world.sql(text, [id, ...tables.map((table) => ids[table])]);
  return describeCompany('Example', auth, api);
}

interface FurtherRequest {
  method: 'post' | 'put';
  path: string;
  body: object;
  headers?: Record<string, string>;
}

async function sendAll(api: Api, requests: FurtherRequest[]): Promise<void> {
  for (const { method, path, body, headers = {} } of requests) {
    const res = await api(method, path, { body, headers });
    if (res.status >= 300) throw new Error(`${method} ${path}: ${res.text}`);
  }
}

/** Requests that make rows between records, events that wait, and a kept answer. */
function listFurtherRequests(ids: Record<string, number>): FurtherRequest[] {
  const buyers = { buyer_ids: [ids.buyers] };
  const groups = { buyer_group_ids: [ids.buyer_groups] };
  const centers = { call_center_ids: [ids.call_centers] };
  const offers = { offer_ids: [ids.offers] };
  const sources = { traffic_source_ids: [ids.traffic_sources] };
  const grants = { ...buyers, ...groups, ...offers, ...sources };
  const call = { offer_id: ids.offers, caller_number: '+13105550177' };
  const callback = '2026-11-28T18:00:00Z';
  const lead = { caller_id: '+13105550178', schedule_callback_at: callback };
  const message = { content: 'Read this', ...buyers, ...groups, ...centers };
  return [
    { method: 'put', path: `access_control_lists/${ids.access_control_lists}`, body: grants },
    { method: 'put', path: `agents/${ids.agents}`, body: { ...buyers, ...centers } },
    { method: 'post', path: 'agent_messages', body: message },
    {
      method: 'put',
      path: `buyer_suppressions/${ids.buyer_suppressions}`,
      body: { ...offers, schedule_ids: [ids.schedules] },
    },
    { method: 'put', path: `offers/${ids.offers}`, body: { ...buyers, ...groups } },
    { method: 'post', path: 'leads/capture', body: { ...lead, schedule_id: ids.schedules } },
    { method: 'post', path: 'call_sessions', body: call, headers: { 'idempotency-key': 'kept' } },
  ];
}

/** Rows that nothing but another service makes: $1 is the company, then come ids of records. */
const FURTHER_ROWS: [text: string, ...tables: string[]][] = [
  [
    `INSERT INTO bids (
      company_id, caller_number, offer_id, buyer_id, created_at, amount, number, duration,
      expires_at
    ) VALUES (
      $1, 13105550179, $2, $3, '2026-11-27T17:59:00Z', 12.5, '+13105550100', 30,
      '2026-11-27T18:05:00Z'
    )`,
    'offers',
    'buyers',
  ],
  [
    `INSERT INTO bid_failures (company_id, buyer_id, failed_at, uuid)
    VALUES ($1, $2, '2026-11-27T17:58:00Z', gen_random_uuid())`,
    'buyers',
  ],
  [
    `INSERT INTO call_cost_looks (company_id, call_id, due_at)
    VALUES ($1, $2, '2026-11-27T18:10:00Z')`,
    'calls',
  ],
  [
    `INSERT INTO call_leg_prices (company_id, call_id, carrier_call_id, price, currency)
    VALUES ($1, $2, 'CA00000000000000000000000000000001', 0.0085, 'USD')`,
    'calls',
  ],
  [
    `INSERT INTO call_holds (
      company_id, created_at, ping_id, offer_id, caller_number, buyer_ids, slots, caps, posted,
      direct, expires_at
    ) VALUES (
      $1, '2026-11-27T17:59:30Z', $2, $3, 13105550180, ARRAY[$4::bigint], '[]', '[]', false,
      false, '2026-11-27T18:04:30Z'
    )`,
    'pings',
    'offers',
    'buyers',
  ],
  [
    `INSERT INTO contact_restrictions (company_id, caller_number, offer_id, opt_out)
    VALUES ($1, 13105550181, $2, true)`,
    'offers',
  ],
  [
    `INSERT INTO schedule_events (company_id, created_at, kind, lead_id)
    VALUES ($1, '2026-11-27T18:00:00Z', 'lead_created', $2)`,
    'leads',
  ],
  [
    `INSERT INTO migration_positions (company_id, source, resource, cursor)
    VALUES ($1, 'other.example', 'buyers', '25')`,
  ],
  [
    `INSERT INTO saved_counts (company_id, key, cluster, counted, used_at)
    VALUES ($1, 'kept', 'none', '{}', '2026-11-27T18:00:00Z')`,
  ],
];

const REPORT_QUERIES: Record<string, string> = {
  '/api/v1/calls/reports': '?category=buyer&time_zone=UTC',
  '/api/v1/calls/reports/grouped': '?group_by=traffic_source,buyer&time_zone=UTC&per_page=1000',
  '/api/v1/leads/reports': '?category=offer&time_zone=UTC',
};

const hasPages = (parameters: Operation['parameters']) =>
  parameters.some(({ name }) => name === 'per_page');

const isReadOnly = ({ method, effect, credentials }: Operation) =>
  method === 'get' && !effect && credentials === 'account';

/** The lists and reports, with all columns. */
const LIST_PATHS = [
  ...contract.operations
    .filter(isReadOnly)
    .filter(({ path, parameters }) => !path.includes('{') && hasPages(parameters))
    .map(({ path }) => path)
    .filter((path) => !path.includes('/reports') && !path.endsWith('/search')),
  ...Object.keys(REPORT_QUERIES),
].map((path) => path + (REPORT_QUERIES[path] ?? '?per_page=1000'));

async function describeCompany(name: string, auth: string, api: Api): Promise<KeptCompany> {
  const answers: KeptCompany['answers'] = {};
  const keepAnswer = async (path: string) => {
    const { status, body } = await api('get', path);
    if (status === 200) answers[path] = body;
    return { status, body };
  };
  for (const path of LIST_PATHS) {
    const { status, body } = await keepAnswer(path);
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
    const [first] = body[body.metadata.root] as { id?: number }[];
    // Some records have no decision, no lines or no times.
    if (first?.id) for (const more of listPathsOfRecord(path, first.id)) await keepAnswer(more);
  }
  return { name, auth, answers };
}

/** The paths that show a record, and lists of what belongs to it. */
const listPathsOfRecord = (list: string, id: number): string[] =>
  contract.operations
    .filter(isReadOnly)
    .filter(({ path }) => path.startsWith(`${list.split('?')[0]}/{id}`) && !isFile(path))
    .map(({ path }) => path.replace('{id}', String(id)));

const isFile = (path: string) => ['import_file', 'recording'].includes(path.split('/').at(-1)!);

/** The files of a folder and of those below it. */
function readFolder(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  );
}

const END_OF_ROWS = String.raw`\.`;

async function dumpDatabase(url: string): Promise<string> {
  const schema = [`${MIGRATIONS_TABLE};\n`];
  await migrate(await emptyDatabase(), undefined, (client, script) => {
    schema.push(script);
    return client.query(script);
  });
  schema.push(`${CREATE_QUEUE};\n`);
  return withClient(new Client({ connectionString: url }), async (client) => {
    await client.query('SET timezone = UTC');
    const sql = sqlOn(client);
    const [jobs] = await sql(JOB_COLUMNS, {});
    const tables = [
      ...(await listTables(sql)).filter(({ name }) => !OF_PROCESSES.has(name)),
      { name: JOBS, columns: jobs!.columns! },
    ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    // Rows come in the order of their tables' names.
    const parts = [...schema, 'SET session_replication_role = replica;\n'];
    parts.push(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} CASCADE;\n`);
    for (const { name, columns } of tables) {
      const rows = await text(client.query(to(`COPY (SELECT ${columns} FROM ${name}) TO STDOUT`)));
      if (rows) parts.push(`COPY ${name} (${columns}) FROM stdin;\n${rows}${END_OF_ROWS}\n`);
      else throw new Error(`${name} has no rows`);
    }
    for (const { name, last_value } of await listUsedSequences(sql, 'public'))
      parts.push(`SELECT setval('${name}', ${last_value});\n`);
    parts.push('SET session_replication_role = DEFAULT;\n');
    return parts.join('');
  });
}

/** Tables about running processes, and about requests of the current minute. */
const OF_PROCESSES = new Set(['processes', 'loop_faults', 'rate_limits']);

void main(process.argv[2]).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
