import { contract, type Operation } from '../../src/platform/contract/contract';
import { isLogged } from '../../src/api/records/change-log';
import { createFixture, type Fixture } from '../support/example';
import { createMember } from '../support/teams';
import { useWorld } from '../support/use-world';

const world = useWorld();
const { create, api } = world;

interface Entry {
  record_type: string;
  record_id: number | null;
  action: string;
  operation: string;
  changes: Record<string, { from: unknown; to: unknown }>;
  user_email: string | null;
  credentials: string;
  client_request_id: string;
}

const entries = async (query: object = {}): Promise<Entry[]> =>
  (
    await api('get', 'change_logs', {
      query: { per_page: 1000, order_dir: 'desc', ...query },
    })
  ).body.change_logs;

describe('derived from the contract', () => {
  const ownWorld = useWorld();
  let fixture: Fixture;
  let secrets: { secret: string }[];
  beforeAll(async () => {
    fixture = await createFixture(ownWorld);
    secrets = await ownWorld.sql('SELECT token AS secret FROM lead_tokens');
  });

  const countLogs = async () =>
    Number((await ownWorld.sql<{ n: string }>('SELECT count(*) AS n FROM change_logs'))[0]!.n);
  const ORDER = ['move_to_end', 'opt_out', 'remove', 'post', 'put', 'delete'];
  // A token ends with its traffic source.
  const rank = ({ id, method, power }: Operation) =>
    ORDER.indexOf(id === 'revokeTrafficSourceToken' ? 'put' : (power ?? method));
  // The fixture's call has ended; a plain submission is in the history of its lead.
  const elsewhere = ['sendKeyPress', 'submitLead'];
  const logged = contract.operations
    .filter((operation) => isLogged(operation) && !elsewhere.includes(operation.id))
    .toSorted((a, b) => rank(a) - rank(b));

  test.each(logged.map((operation) => [operation.id, operation] as const))(
    '%s writes one entry, with its request and its credentials',
    async (_, operation) => {
      const before = await countLogs();
      const isInFixture = operation.method === 'post' && operation.path.split('/').length === 4;
      // The fixture has created it already: its entry is there.
      const res = isInFixture
        ? undefined
        : await fixture.send(operation, { headers: { 'X-Request-Id': `test-${operation.id}` } });
      const rows = await ownWorld.sql<Entry>(
        'SELECT * FROM change_logs WHERE operation = $1 ORDER BY id',
        [operation.id],
      );
      const after = await countLogs();
      if (res)
        expect([operation.id, res.status, after - before]).toEqual([
          operation.id,
          operation.id === 'captureLead' ? 201 : operation.status,
          1,
        ]);
      expect(rows.length).toBeGreaterThan(0);
      const last = rows.at(-1)!;
      expect(last).toMatchObject({
        credentials: operation.power
          ? `Lead token of schedule ${fixture.ids.schedules}`
          : 'First key pair',
        record_type: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
      });
      if (res) expect(last.client_request_id).toBe(`test-${operation.id}`);
      if (operation.method === 'delete' && !operation.power)
        expect(last).toMatchObject({ action: 'delete' });
    },
  );

  test('the stored count of entries is exact', async () => {
    const [row] = await ownWorld.sql<{ n: string; counted: string }>(
      `SELECT
        (SELECT count(*) FROM change_logs) AS n,
        (SELECT sum(n) FROM record_counts WHERE resource = 'change_logs') AS counted`,
    );
    expect(row!.n).toBe(row!.counted);
  });

  test('no secret is in any of them', async () => {
    const text = JSON.stringify(await ownWorld.sql('SELECT changes FROM change_logs'));
    expect(secrets.length).toBeGreaterThan(0);
    for (const { secret } of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('"lead_token":{"from":null,"to":"[hidden]"}');
    expect(text).not.toMatch(/private_key|ut_[0-9a-f]{24}_/);
  });
});

const PAID = { current_conversion_revenue: 12.5, current_conversion_duration: 30 };

test('an update names exactly the columns that changed, from what to what', async () => {
  const { buyer } = (await api('post', 'buyers', { body: { name: 'Acme', tier: 2 } })).body;
  await api('put', `buyers/${buyer.id}`, {
    body: { paused: true, tier: 2, attempt_daily_limit: 5, ...PAID },
    headers: { 'X-Request-Id': 'r-1' },
  });
  const [last] = await entries({ client_request_id: 'r-1' });
  expect(last).toMatchObject({
    record_type: 'Buyer',
    record_id: buyer.id,
    action: 'update',
    operation: 'updateBuyer',
  });
  expect(last!.changes).toMatchObject({
    paused: { from: false, to: true },
    attempt_daily_limit: { from: null, to: 5 },
    current_conversion_revenue: { from: null, to: 12.5 },
  });
  expect(Object.keys(last!.changes)).not.toContain('tier');
});

test('buyers of a group and users of a team are columns of the record', async () => {
  const buyer = await create('buyers', { name: 'Member' });
  const group = await create('buyer_groups', { name: 'Group' });
  await api('put', `buyer_groups/${group}`, {
    body: { add_buyer_ids: [buyer] },
    headers: { 'X-Request-Id': 'r-2' },
  });
  expect((await entries({ client_request_id: 'r-2' }))[0]!.changes).toMatchObject({
    buyer_ids: { from: [], to: [buyer] },
    buyers_count: { from: 0, to: 1 },
  });
});

test('a field without a column is logged as it was sent: users who get access', async () => {
  const { buyer } = (await api('post', 'buyers', { body: { name: 'Open' } })).body;
  await api('put', `buyers/${buyer.id}`, {
    body: { team_users_emails: ['stranger@example.com'] },
    headers: { 'X-Request-Id': 'r-6' },
  });
  expect((await entries({ client_request_id: 'r-6' }))[0]!.changes).toEqual({
    team_users_emails: { from: null, to: ['stranger@example.com'] },
  });
});

test('the entry does not depend on the serializer, and has the lead before a capture', async () => {
  const offerId = await create('offers', { name: 'Leads' });
  const capture = (email: string, id: string) =>
    api('post', 'leads/capture', {
      body: { offer_id: offerId, caller_id: '+12125550166', email },
      headers: { 'X-Request-Id': id },
    });
  const leadId = (await capture('a@example.com', 'r-7')).body.lead_id;
  await capture('b@example.com', 'r-8');
  expect((await entries({ client_request_id: 'r-8' }))[0]).toMatchObject({
    action: 'update',
    changes: { email: { from: 'a@example.com', to: 'b@example.com' } },
  });
  await api('put', `leads/${leadId}`, {
    body: { email: 'c@example.com', serializer: 'lead_external' },
    headers: { 'X-Request-Id': 'r-9' },
  });
  expect((await entries({ client_request_id: 'r-9' }))[0]!.changes.email).toEqual({
    from: 'b@example.com',
    to: 'c@example.com',
  });
});

test('no key of a webhook is in it', async () => {
  const secrets = {
    url: 'https://hooks.example.com/PATHKEY?k=QUERYKEY',
    headers: { Authorization: 'HEADERKEY' },
    body: '{"k":"BODYKEY"}',
  };
  const response = await api('post', 'outgoing_webhooks', {
    body: { name: 'Hook', trigger_type: 'every_call', ...secrets },
  });
  await api('put', `outgoing_webhooks/${response.body.outgoing_webhook.id}`, {
    body: { ...secrets, name: 'Other', url: 'https://else.example.com/PATHKEY' },
  });
  const scheduleId = await create('schedules', { name: 'S' });
  expect(
    (
      await api('post', 'schedule_actions', {
        body: { schedule_id: scheduleId, action_type: 'webhook', ...secrets },
      })
    ).status,
  ).toBe(201);
  const text = JSON.stringify(await world.sql('SELECT changes FROM change_logs'));
  expect(text).toContain('https://else.example.com/[hidden]');
  expect(text).not.toMatch(/PATHKEY|QUERYKEY|HEADERKEY|BODYKEY/);
});

test('a failed write has no entry, and a failed entry cancels the write', async () => {
  const { buyer } = (await api('post', 'buyers', { body: { name: 'Safe', user_buyer_id: 'safe' } }))
    .body;
  await api('post', 'buyers', {
    body: { user_buyer_id: 'safe' },
    headers: { 'X-Request-Id': 'r-3' },
  });
  await api('put', `buyers/${buyer.id}`, {
    body: { name: 'Else' },
    headers: { 'X-Request-Id': 'r-3', 'If-Match': '"00000000000000000000000000000000"' },
  });
  expect(await entries({ client_request_id: 'r-3' })).toEqual([]);
  await world.sql(
    'ALTER TABLE change_logs ADD CONSTRAINT refuse CHECK (client_request_id <> $$r-4$$)',
  );
  const failed = await api('put', `buyers/${buyer.id}`, {
    body: { name: 'Unseen' },
    headers: { 'X-Request-Id': 'r-4' },
  });
  await world.sql('ALTER TABLE change_logs DROP CONSTRAINT refuse');
  expect([failed.status, (await api('get', `buyers/${buyer.id}`)).body.buyer.name]).toEqual([
    500,
    'Safe',
  ]);
});

test('fifty parallel changes of a record form a chain: each starts where one ended', async () => {
  const { buyer } = (await api('post', 'buyers', { body: { name: 'n0' } })).body;
  const names = Array.from({ length: 50 }, (_, n) => `n${n + 1}`);
  const answers = await Promise.all(
    names.map((name) => api('put', `buyers/${buyer.id}`, { body: { name } })),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  const steps = (
    await entries({ record_type: 'Buyer', record_id: buyer.id, action: 'update' })
  ).map(({ changes }) => changes.name!);
  const next = new Map(steps.map(({ from, to }) => [from, to]));
  let at: unknown = 'n0';
  names.forEach(() => (at = next.get(at)));
  expect([steps.length, next.size, at]).toEqual([
    50,
    50,
    (await api('get', `buyers/${buyer.id}`)).body.buyer.name,
  ]);
});

test('a request that is repeated with its Idempotency-Key is logged once', async () => {
  const send = () =>
    api('post', 'buyers', {
      body: { name: 'Once' },
      headers: { 'Idempotency-Key': 'once', 'X-Request-Id': 'r-5' },
    });
  await send();
  await send();
  expect(await entries({ client_request_id: 'r-5' })).toHaveLength(1);
});

test('lists have filters, cursors and CSV; a limited user sees only own entries', async () => {
  const { buyer } = (await api('post', 'buyers', { body: { name: 'Theirs' } })).body;
  const ann = await createMember(world.company, 'ann@example.com', {
    permissions: ['buyers:read', 'buyers:update', 'change_logs:read'],
    buyer_ids: [buyer.id],
  });
  await ann.api('put', `buyers/${buyer.id}`, { body: { paused: true } });
  const mine = (await ann.api('get', 'change_logs')).body;
  expect([mine.metadata.total_count, mine.change_logs[0].user_email]).toEqual([
    1,
    'ann@example.com',
  ]);
  expect(await entries({ user_id: mine.change_logs[0].user_id })).toEqual(mine.change_logs);
  expect(
    (await entries({ record_type: 'Buyer', record_id: buyer.id })).map(({ action }) => action),
  ).toEqual(['update', 'create']);
  const csv = await api('get', 'change_logs.csv', {
    query: {
      record_type: 'Buyer',
      record_id: buyer.id,
      columns: 'action,operation,user_email',
      order_dir: 'asc',
    },
  });
  expect(csv.text).toContain('\ncreate,createBuyer,\nupdate,updateBuyer,ann@example.com\n');
  const all = await entries();
  const walked: Entry[] = [];
  for (let cursor: unknown = -1; cursor !== 0;) {
    const { body } = await api('get', 'change_logs', { query: { cursor, per_page: 7 } });
    walked.push(...body.change_logs);
    cursor = body.metadata.next_cursor;
    expect(body.metadata.total_count).toBe(all.length);
  }
  expect(walked).toEqual(all.toReversed());
});
