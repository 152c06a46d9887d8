import { createHandlers } from '../../src/main/handlers';
import type { Handlers } from '../../src/api/handlers';
import { buildApp, caller, type Api } from '../support/world';
import { useWorld } from '../support/use-world';

// Records that are written by one statement (src/data/projection/write.ts): with the answer, the
// checksum, the log and the counts of the same write in a transaction, and in its place whenever
// that is enough.

/** The service with every write in a transaction. */
let inTransactions: Api;
let directly: Api;
const now = new Date('2026-03-02T15:00:00.000Z');
const world = useWorld({ clock: () => now });

beforeAll(async () => {
  directly = world.company.api;
  const handlers = Object.fromEntries(
    Object.entries(createHandlers(world.deps)).map(([id, handle]) => [
      id,
      (call: never) => (handle as (call: never) => Promise<unknown>)(call),
    ]),
  ) as unknown as Handlers;
  inTransactions = caller(buildApp(world.deps, handlers), world.company.auth);
});

/** The exchanges with the database that some work takes, without those of credentials. */
async function countExchanges(
  work: () => Promise<unknown>,
): Promise<{ alone: number; open: number }> {
  const { pool, prepared } = world.deps.database;
  const alone = jest.spyOn(prepared, 'query');
  const open = jest.spyOn(pool, 'connect');
  await work();
  const counts = { alone: alone.mock.calls.length, open: open.mock.calls.length };
  alone.mockRestore();
  open.mockRestore();
  return counts;
}

const RESOURCES = {
  buyers: {
    root: 'buyer',
    type: 'Buyer',
    initial: { name: 'Ann', number: '+13105550123', weight: 5, attempt_daily_limit: 100 },
    changes: [
      { name: 'Änn "quoted" \\ \n', tier: 2.5, attempt_daily_limit: 7 },
      { weight: 3 },
      { attempt_daily_limit: null },
      { paused: true, email: 'ann@example.com' },
      { paused: true, concurrency_cap_limit: 3, revenue_total_limit: 12.5 },
      { paused: false, timeout_seconds: 45 },
      { record_token_additional_list: 'a:1,b:2', epc_assumed_amount: 1.5 },
      { record_token_additional_list: null, user_buyer_id: 'own' },
      {},
    ],
  },
  buyer_groups: {
    root: 'buyer_group',
    type: 'BuyerGroup',
    initial: { name: 'Group', concurrency_cap: 4, time_zone: 'Pacific Time (US & Canada)' },
    changes: [
      { name: 'Other', weight: 2, attempt_hourly_limit: 9 },
      { paused: true },
      { concurrency_cap: null, revenue_daily_limit: 3.25 },
      { paused: false, weight: 3 },
    ],
  },
  buyer_fleets: {
    root: 'buyer_fleet',
    type: 'BuyerFleet',
    initial: { name: 'Fleet', user_fleet_id: 'fleet', description: 'all' },
    changes: [{ description: null }, { name: 'Cars', user_fleet_id: 'cars' }],
  },
  call_centers: {
    root: 'call_center',
    type: 'CallCenter',
    initial: { name: 'Center' },
    changes: [{ description: 'new' }, { name: 'West', external_record_id: 'w' }],
  },
};

let n = 0;
/** A copy with other identifiers of the customer, which must be unique. */
const replaceIdentifiers = <Body extends object>(body: Body): Body =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      name.startsWith('user_') ? `${value}_${++n}` : (value as unknown),
    ]),
  ) as Body;

const IDENTITY =
  /^(id|legacy_id|uuid|call_limit_id|routes_.*|user_\w+_id|record_token_additional_id)$/;
/** A record without the fields that identify it. */
const pickContent = (record: object, excluded: RegExp = IDENTITY) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !excluded.test(name)));

const loadLastEntry = async (type: string, recordId: number) => {
  const [row] = await world.sql<{
    uuid: string;
    id: string;
    record_id: string;
    request_id: string;
  }>(
    `SELECT * FROM change_logs WHERE record_type = $1 AND record_id = $2
      ORDER BY id DESC LIMIT 1`,
    [type, recordId],
  );
  const { uuid, id, record_id: of, request_id, ...entry } = row!;
  expect([uuid, id, of, request_id].every(Boolean)).toBe(true);
  return entry;
};

const countRecords = async (resource: string) =>
  Number(
    (
      await world.sql<{ n: string }>('SELECT sum(n) AS n FROM record_counts WHERE resource = $1', [
        resource,
      ])
    )[0]!.n,
  );

describe.each(Object.entries(RESOURCES))('%s', (resource, { root, type, initial, changes }) => {
  const create = async () => directly('post', resource, { body: replaceIdentifiers(initial) });

  test('a new record is one exchange, with the answer, log and count of a transaction', async () => {
    const before = [await countRecords(resource), await countRecords('change_logs')];
    let response: Awaited<ReturnType<Api>>;
    const work = async () => void (response = await create());
    expect(await countExchanges(work)).toEqual({ alone: 1, open: 0 });
    const transactionResponse = await inTransactions('post', resource, {
      body: replaceIdentifiers(initial),
    });
    expect([response!.status, transactionResponse.status]).toEqual([201, 201]);
    const [a, b] = [response!.body[root], transactionResponse.body[root]];
    expect(Object.keys(a)).toEqual(Object.keys(b));
    expect(pickContent(a)).toEqual(pickContent(b));
    const [logged, expected] = [await loadLastEntry(type, a.id), await loadLastEntry(type, b.id)];
    expect(pickContent(logged, /^changes$/)).toEqual(pickContent(expected, /^changes$/));
    const changed = (entry: object) => pickContent((entry as { changes: object }).changes);
    expect(changed(logged)).toEqual(changed(expected));
    expect([await countRecords(resource), await countRecords('change_logs')]).toEqual(
      before.map((count) => count + 2),
    );
    const shown = await directly('get', `${resource}/${a.id}`);
    expect(shown.body[root]).toEqual(a);
    expect(shown.headers.etag).toBe(response!.headers.etag);
  });

  test('a change is one exchange, with the answer and the log of a transaction', async () => {
    const id = (await create()).body[root].id;
    const otherId = (await create()).body[root].id;
    for (const body of changes) {
      let response: Awaited<ReturnType<Api>>;
      const work = async () =>
        void (response = await directly('put', `${resource}/${id}`, { body }));
      expect([body, await countExchanges(work)]).toEqual([body, { alone: 1, open: 0 }]);
      const transactionResponse = await inTransactions('put', `${resource}/${otherId}`, {
        body: replaceIdentifiers(body),
      });
      expect([body, response!.status, transactionResponse.status]).toEqual([body, 200, 200]);
      expect(pickContent(response!.body[root])).toEqual(
        pickContent(transactionResponse.body[root]),
      );
      const [logged, expected] = [
        await loadLastEntry(type, id),
        await loadLastEntry(type, otherId),
      ];
      expect(pickContent(logged, /^changes$/)).toEqual(pickContent(expected, /^changes$/));
      const changed = (entry: object) => pickContent((entry as { changes: object }).changes);
      expect([body, changed(logged)]).toEqual([body, changed(expected)]);
      const shown = await directly('get', `${resource}/${id}`);
      expect(shown.body[root]).toEqual(response!.body[root]);
      expect(shown.headers.etag).toBe(response!.headers.etag);
    }
  });

  test('the checksum that a caller knows is compared, in the same exchange', async () => {
    const { headers, body } = await create();
    const path = `${resource}/${body[root].id}`;
    const put = (etag: string, name: string) =>
      directly('put', path, { body: { name }, headers: { 'If-Match': etag } });
    let changed: Awaited<ReturnType<Api>>;
    const work = async () => void (changed = await put(headers.etag!, 'first'));
    expect(await countExchanges(work)).toEqual({ alone: 1, open: 0 });
    expect(changed!.status).toBe(200);
    expect((await put(headers.etag!, 'second')).status).toBe(412);
    expect((await put(changed!.headers.etag!, 'second')).status).toBe(200);
  });

  test('of many changes with the same checksum one is made', async () => {
    const { headers, body } = await create();
    const path = `${resource}/${body[root].id}`;
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        directly('put', path, { body: { name: `n${n}` }, headers: { 'If-Match': headers.etag! } }),
      ),
    );
    const statuses = responses.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...Array(11).fill(412)]);
  });

  test('the log of changes at the same time is one chain: each begins where one ended', async () => {
    const { id } = (await create()).body[root];
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 3 ? directly : inTransactions)('put', `${resource}/${id}`, {
          body: { name: `at once ${n}` },
        }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const rows = await world.sql<{ changes: { name: { from: string | null; to: string } } }>(
      `SELECT changes FROM change_logs
        WHERE record_type = $1 AND record_id = $2 AND action = 'update'`,
      [type, id],
    );
    const next = new Map<string | null | undefined, string>(
      rows.map(({ changes: { name } }) => [name.from, name.to]),
    );
    expect(next.size).toBe(30);
    let at: string | null | undefined = initial.name;
    for (let n = 0; n < 30; n++) at = next.get(at);
    expect(at).toBe((await directly('get', `${resource}/${id}`)).body[root].name);
  });
});

test('a serializer of the body is that of the answer', async () => {
  const body = { ...RESOURCES.buyers.initial, serializer: 'buyer_grid' };
  const { buyer } = (await directly('post', 'buyers', { body })).body;
  const changed = await directly('put', `buyers/${buyer.id}`, {
    body: { name: 'Grid', serializer: 'buyer_grid' },
  });
  expect(changed.body.buyer).toMatchObject({ name: 'Grid', buyer_conversion_ids: [] });
});
