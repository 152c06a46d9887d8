import { contract, facets, type Operation } from '../../src/platform/contract/contract';
import { createFixture, type Fixture } from '../support/example';
import { findTable } from '../support/example-bodies';
import { createWorld, type World } from '../support/world';

// Derived from openapi.yaml: every list takes order, order_dir, fulltext and columns, and every
// show takes columns, and they act.

let world: World;
let fixture: Fixture;

const LIST_PARAMETERS = ['order', 'order_dir', 'fulltext', 'columns'];
const listParameterNames = ({ parameters }: Operation) => parameters.map(({ name }) => name);
const pages = contract.operations.filter(
  (operation) => operation.method === 'get' && listParameterNames(operation).includes('per_page'),
);
const isExempt = ({ id }: Operation) => EXEMPT_LISTS.includes(id);

const { description } = contract.document.info as unknown as { description: string };
/** The lists of rows that the introduction names. */
const EXEMPT_LISTS = [...(/Lists of rows[^]*/.exec(description)?.[0] ?? '').matchAll(/`(\w+)`/g)]
  .map(([, name]) => name!)
  .filter((name) => contract.operations.some(({ id }) => id === name));

/** For each list a column that fulltext searches. */
const SEARCHED_COLUMNS: Record<string, string> = {
  listBuyers: 'name',
  listBuyerGroups: 'name',
  listBuyerFleets: 'name',
  listBuyerSuppressions: 'name',
  listBuyerSuppressionFiles: 'name',
  listOffers: 'description',
  listTrafficSources: 'name',
  listAlertRules: 'name',
  listAlerts: 'message',
  listTrafficSourceTokens: 'name',
  listValueLists: 'name',
  listZipLists: 'name',
  listPhoneNumbers: 'name',
  listSchedules: 'description',
  listScheduleActions: 'name',
  listCallCenters: 'description',
  listDispositions: 'name',
  listSwitches: 'name',
  listTrunks: 'name',
  listAgentStatuses: 'name',
  listAgents: 'name',
  listAgentStatusTimestamps: 'key',
  listAgentMessages: 'content',
  listContacts: 'external_record_id',
  listTextMessages: 'body',
  listEmails: 'subject',
  listLeadLogs: 'message',
  listLeads: 'email',
  listCalls: 'sub_id',
  listCallEvents: 'message',
  listCallAttempts: 'connect_to',
  listOutgoingWebhooks: 'name',
  listWebhookLogs: 'notes',
  listWebhookManualFires: 'name',
  listInboundWebhooks: 'name',
  listUsers: 'name',
  listAccessControlLists: 'name',
  listChangeLogs: 'credentials',
  listAccessTokens: 'name',
  listAccountEntries: 'note',
  listStatements: 'external_record_id',
};

const lists = pages
  .filter((operation) => !isExempt(operation))
  .map((operation) => [operation.id, operation] as const);

interface Unique {
  columns: string[];
}

/** The table of a list's records: that of its last segment where it is below another record. */
const tableOfList = (operation: Operation): string => {
  const last = operation.path.split('/').at(-1)!;
  return operation.path.includes('{') ? `call_${last}` : findTable(operation);
};

/** By type, SQL that makes another value of one. */
const OTHER_VALUE: Record<string, string> = { bigint: ' + 1', integer: ' + 1', text: " || 'x'" };

/** Copies the newest row of a table, with another value in every unique key. */
async function copyRow(table: string, searched: string): Promise<void> {
  const uniques = await world.sql<Unique>(
    `SELECT array_agg(a.attname::text ORDER BY array_position(i.indkey::int2[], a.attnum)) AS columns
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
    WHERE i.indrelid = $1::regclass AND i.indisunique AND NOT i.indisprimary
    GROUP BY i.indexrelid`,
    [table],
  );
  const types = await world.sql<{ name: string; type: string }>(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
    WHERE table_name = $1`,
    [table],
  );
  const isChangeable = (name: string) =>
    name !== 'company_id' &&
    types.some((column) => column.name === name && column.type in OTHER_VALUE);
  const changed = new Set(uniques.map(({ columns }) => columns.findLast(isChangeable)));
  const values = types.map(({ name, type }) => {
    if (name === 'id') return `nextval(pg_get_serial_sequence('${table}', 'id'))`;
    if (name === searched) return `'a Needle in ${table}'`;
    if (name === 'created_at') return `t.created_at + interval '1 second'`;
    if (type === 'uuid') return 'gen_random_uuid()';
    return `t."${name}"${changed.has(name) ? OTHER_VALUE[type] : ''}`;
  });
  await world.sql(
    `INSERT INTO ${table} (${types.map(({ name }) => `"${name}"`).join(', ')})
    SELECT ${values.join(', ')} FROM ${table} t
    WHERE t.company_id = $1 ORDER BY t.id DESC LIMIT 1`,
    [world.company.id],
  );
}

beforeAll(async () => {
  world = await createWorld();
  fixture = await createFixture(world);
  // Copies refer to what they do not belong to, and raise no events.
  await world.sql('SET session_replication_role = replica');
  await world.sql(
    `INSERT INTO call_attempts (
      company_id, uuid, call_id, round, buyer_id, connect_to, status, timeout_seconds,
      press_one_to_accept, dial
    ) VALUES ($1, gen_random_uuid(), $2, 1, $3, '+13105550199', 'no_answer', 20, false, '{}')`,
    [world.company.id, fixture.ids.calls, fixture.ids.buyers],
  );
  // Value lists and ZIP lists are of one table.
  const searched = new Map(
    lists.map(([id, operation]) => [tableOfList(operation), SEARCHED_COLUMNS[id]!]),
  );
  for (const [table, column] of searched) await copyRow(table, column);
});
afterAll(() => world.close());

type Row = Record<string, unknown>;
/** The records of a list, and where the next page begins. */
async function loadList(operation: Operation, query: Record<string, string | number>) {
  const res = await fixture.send(operation, { query: { per_page: 1000, ...query } });
  expect([res.status, res.body.errors ?? {}]).toEqual([200, {}]);
  const { metadata } = res.body as { metadata: { root: string; next_cursor: number } };
  return { records: res.body[metadata.root] as Row[], next_cursor: metadata.next_cursor };
}

const listIds = (records: Row[]) => records.map(({ id }) => id);

test('the introduction names exactly the lists that take none of the four', () => {
  const lacking = pages.filter(
    (operation) => !LIST_PARAMETERS.every((name) => listParameterNames(operation).includes(name)),
  );
  expect(lacking.map(({ id }) => id).toSorted()).toEqual(EXEMPT_LISTS.toSorted());
  expect(Object.keys(SEARCHED_COLUMNS).toSorted()).toEqual(lists.map(([id]) => id).toSorted());
});

test.each(lists)('%s: order_dir=desc reverses it', async (_, operation) => {
  const ascending = listIds((await loadList(operation, {})).records);
  expect(ascending.length).toBeGreaterThan(1);
  expect(ascending).toEqual((ascending as number[]).toSorted((a, b) => a - b));
  const { records } = await loadList(operation, { order_dir: 'desc' });
  expect(listIds(records)).toEqual(ascending.toReversed());
});

const orderings = lists.flatMap(([id, operation]) => {
  const { schema } = operation.parameters.find(({ name }) => name === 'order')!;
  return (contract.resolve(schema).enum as string[]).map(
    (order) => [id, order, operation] as const,
  );
});

test.each(orderings)(
  '%s: cursors go through all by %s, either way',
  async (_, order, operation) => {
    const whole = (await loadList(operation, { order })).records;
    for (const orderDir of ['asc', 'desc']) {
      const pagedIds: unknown[] = [];
      let cursor = -1;
      do {
        const page = await loadList(operation, { order, order_dir: orderDir, cursor, per_page: 1 });
        pagedIds.push(...listIds(page.records));
        cursor = page.next_cursor;
      } while (cursor !== 0 && pagedIds.length <= whole.length);
      expect(pagedIds).toEqual(orderDir === 'asc' ? listIds(whole) : listIds(whole).toReversed());
    }
  },
);

test.each(orderings.filter(([, order]) => order === 'created_at'))(
  '%s: order=%s is the order of time',
  async (_, order, operation) => {
    const times = (await loadList(operation, { order })).records.map((row) =>
      String(row.created_at),
    );
    expect(new Set(times).size).toBeGreaterThan(1);
    expect(times).toEqual(times.toSorted());
  },
);

test.each(lists)('%s: fulltext finds what contains the text, in any case', async (_, operation) => {
  const all = listIds((await loadList(operation, {})).records);
  const matches = listIds((await loadList(operation, { fulltext: 'nEEDLE in ' })).records);
  expect([matches.length, all.length > 1]).toEqual([1, true]);
  expect(listIds((await loadList(operation, { fulltext: 'no such text' })).records)).toEqual([]);
});

const listColumns = (operation: Operation): string[] => {
  const raw = contract.resolve(operation.responses['200']!) as {
    content: Record<string, { schema: { $ref: string } }>;
  };
  const reply = facets(raw.content['application/json']!.schema).properties;
  const [record] = Object.entries(reply).flatMap(([name, schema]) =>
    facets(schema).properties.id || facets(schema).items
      ? [facets(schema).items ?? schema].map((recordSchema) => [name, recordSchema] as const)
      : [],
  );
  return Object.keys(facets(record![1]).properties);
};

test.each(lists)('%s: columns selects among the declared ones', async (_, operation) => {
  const selected = listColumns(operation)
    .filter((name) => name !== 'legacy_id')
    .slice(0, 3);
  const { records } = await loadList(operation, { columns: `${selected.join(',')},nonsense` });
  for (const record of records) expect(Object.keys(record)).toEqual(selected);
});

const shows = contract.operations
  .filter(
    (operation) =>
      operation.id.startsWith('show') && listParameterNames(operation).includes('columns'),
  )
  .map((operation) => [operation.id, operation] as const);

test('every record that a list shows has a show that takes columns', () => {
  const ofRecords = contract.operations.filter(
    ({ method, path }) => method === 'get' && /^[^{]*\{id\}$/.test(path),
  );
  const lacking = ofRecords.filter(
    (operation) => !listParameterNames(operation).includes('columns'),
  );
  // A call session is no record: it is what a softswitch does next.
  expect(lacking.map(({ id }) => id)).toEqual(['showCallSession']);
  expect(ofRecords.length).toBeGreaterThan(20);
});

describe.each(shows)('%s', (_, operation) => {
  const readRecord = (body: Row) => body[(body.metadata as { root: string }).root] as Row;

  test('columns selects among the declared ones; the checksum stays that of the record', async () => {
    const whole = await fixture.send(operation);
    const selected = Object.keys(readRecord(whole.body as Row)).filter((_name, n) => n % 3 === 0);
    const res = await fixture.send(operation, {
      query: { columns: selected.toReversed().join(',') },
    });
    expect(res.status).toBe(200);
    const record = readRecord(whole.body as Row);
    expect(readRecord(res.body as Row)).toEqual(
      Object.fromEntries(selected.map((name) => [name, record[name]])),
    );
    expect([res.body.checksum, res.headers.etag]).toEqual([
      whole.body.checksum,
      whole.headers.etag,
    ]);
  });

  test('a column that it does not have is refused, with those that it has', async () => {
    const { status, body } = await fixture.send(operation, { query: { columns: 'id,uuidd' } });
    expect([status, body.code, body.error_codes]).toEqual([
      422,
      'unknown_column',
      { columns: ['unknown_column'] },
    ]);
    expect(body.errors.columns[0]).toMatch(
      /^must be among id, .*; uuidd is not; did you mean uuid\?$/,
    );
  });
});
