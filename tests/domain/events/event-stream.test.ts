import { Client } from 'pg';
import { type Deps } from '../../../src/domain/deps';
import { readEventId, writeEventId } from '../../../src/domain/events/position';
import { standingClock } from '../../support/clock';
import { eventually } from '../../support/engine-process';
import { listen, openStream, type ReadEvent, type Reader } from '../../support/event-stream';
import { finished } from '../../support/imports';
import { createMember, withToken, type Member } from '../../support/teams';
import { buildApp, type Api } from '../../support/world';
import { createRecord, createRecords } from '../../support/records';
import { useWorld } from '../../support/use-world';

// The stream of a company's events: everything that the reader may see, each once, wherever it
// resumes, however transactions overlap.

const clock = standingClock(new Date().toISOString());
const world = useWorld({ clock: clock.read });
const { api } = world;
let otherDeps: Deps;
let servers: { url: string; close(): Promise<void> }[];
let admin: Member;
let buyer: number;
let offer: Offer;

beforeAll(async () => {
  otherDeps = world.openProcess();
  servers = [await listen(world.app), await listen(buildApp(otherDeps))];
  for (const { close } of servers) world.closeLater(close);
  admin = await createMember(world.company, 'admin@example.com', { superuser: true });
  ({ buyer, offer } = await setUp(world.company.api, 'First'));
});

interface Offer {
  id: number;
  lead_token: string;
}
async function setUp(api: Api, name: string) {
  const { buyer } = await createRecords(api, {
    buyers: {
      buyer: {
        name,
        attempt_daily_limit: 100,
        current_conversion_revenue: 20,
        current_conversion_duration: 0,
      },
    },
  });
  const offer: Offer = await createRecord(api, 'offers', { name, buyer_ids: [buyer] });
  return { buyer, offer };
}

let callers = 0;
const nextCaller = () => `+1212555${String(++callers).padStart(4, '0')}`;
/** A call to the buyers of an offer, which is paid for; returns its id. */
async function call(api: Api, { id: offerId }: Offer): Promise<number> {
  const callResponse = await api('post', 'call_sessions', {
    body: { offer_id: offerId, caller_number: nextCaller() },
  });
  const { uuid, id, instruction } = callResponse.body.call_session;
  const { attempt } = instruction.dial[0];
  for (const event of ['answered', 'completed']) {
    const body = { event, attempt, ...(event === 'completed' && { duration: 60 }) };
    expect((await api('post', `call_sessions/${uuid}/events`, { body })).status).toBe(200);
  }
  return id;
}
async function lead(api: Api, { lead_token }: Offer): Promise<number> {
  const { status, body } = await api('post', 'leads', {
    body: { lead_token, caller_id: nextCaller() },
  });
  expect(status).toBe(201);
  return body.id;
}

type Events = (ReadEvent & { data: Record<string, unknown> })[];
const path = 'events/stream';
/** Waits for the transactions that run now: what they write comes before what is later. */
async function waitForTransactions(): Promise<void> {
  const [now] = await world.sql(`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid`);
  await eventually(async () => {
    const [row] = await world.sql(
      `SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS ended`,
      [now!.xid],
    );
    return row!.ended === true;
  });
}

interface From {
  after?: string;
  query?: string;
  server?: number;
  /** Without waiting for transactions that run. */
  at_once?: boolean;
}

/** The events after an id, and the id to continue from. */
async function readFrom(
  token: string,
  { after, query = '', server = 0, at_once = false }: From = {},
) {
  if (!at_once) await waitForTransactions();
  const reader = await openStream(servers[server]!.url, token, {
    path,
    after,
    query: `?wait_seconds=0${query}`,
  });
  expect([reader.status, await reader.ended]).toEqual([200, true]);
  return { events: reader.events as unknown as Events, last_id: reader.last_id };
}
const open = (token: string, server = 0): Promise<Reader> =>
  openStream(servers[server]!.url, token, { path });
const shape = (events: Events) =>
  events.map(({ event, data: { id: _, ...data } }) => [event, data]);

test('calls, caps, leads and imports arrive live on every server, for those who may read them', async () => {
  const readers = await Promise.all(servers.map((_, server) => open(admin.token, server)));
  const callId = await call(world.company.api, offer);
  const leadId = await lead(world.company.api, offer);
  await world.work();
  const list = await api('post', 'buyer_suppressions', { body: { name: 'List' } });
  const file = await api('post', 'buyer_suppression_files', {
    form: {
      buyer_suppression_id: String(list.body.buyer_suppression.id),
      import_file: Buffer.from('number\n2125550100\nno number\n'),
    },
  });
  const { id } = file.body.buyer_suppression_file;
  await finished(world.company.api, `buyer_suppression_files/${id}`);
  for (const reader of readers) {
    const events = reader.events as unknown as Events;
    const last = () => events.filter(({ event }) => event === 'import').at(-1)?.data;
    await eventually(async () => last()?.status === 'succeeded');
    expect(last()).toMatchObject({ id, import_count: 1, rejected_count: 1 });
    const of = (kind: string) => events.filter(({ event }) => event === kind);
    expect(of('cap')[0]!.data).toEqual({ buyer_id: buyer, buyer_group_id: null });
    expect(of('lead').map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ lead_id: leadId, event: 'created' }),
    );
    const { body } = await api('get', `calls/${callId}/events`);
    expect(of('call').map(({ data }) => data)).toEqual(
      body.call_events.map((event: Record<string, unknown>) => ({
        id: event.id,
        call_id: callId,
        event: event.event,
        buyer_id: event.buyer_id,
        created_at: event.created_at,
      })),
    );
    reader.leave();
  }
});

test('whichever event a reader resumes after, the rest comes once, on another server too', async () => {
  const { last_id } = await readFrom(admin.token);
  for (let n = 0; n < 3; n++) await call(world.company.api, offer);
  await lead(world.company.api, offer);
  const { events } = await readFrom(admin.token, { after: last_id });
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['call', 'cap', 'lead']));
  await lead(world.company.api, offer);
  for (const [n, { id }] of events.entries()) {
    const rest = await readFrom(admin.token, { after: id, server: n % 2 });
    const expected = events.slice(n + 1);
    expect(shape(rest.events).slice(0, expected.length)).toEqual(shape(expected));
    const more = rest.events.slice(expected.length);
    expect(new Set(more.map(({ event }) => event))).toEqual(new Set(['lead']));
  }
});

test('what commits late, with an earlier id, is not lost, and nothing overtakes it', async () => {
  const leadId = await lead(world.company.api, offer);
  const { last_id } = await readFrom(admin.token);
  const late = new Client({ connectionString: world.url });
  await late.connect();
  await late.query('BEGIN');
  const log = (message: string) =>
    late.query(
      `INSERT INTO lead_logs (company_id, lead_id, event, message) VALUES ($1, $2, 'updated', $3)`,
      [world.company.id, leadId, message],
    );
  await log('first');
  // Rows of a subtransaction have ids of their own.
  await late.query('SAVEPOINT here');
  await log('second');
  const after = await lead(world.company.api, offer);
  const between = await readFrom(admin.token, {
    after: last_id,
    query: '&kinds=lead',
    at_once: true,
  });
  await late.query('COMMIT');
  await late.end();
  const rest = await readFrom(admin.token, { after: between.last_id, query: '&kinds=lead' });
  const leads = [...between.events, ...rest.events].map(({ data }) => data.lead_id);
  expect(leads.filter((id) => (id as unknown) === leadId).length).toBe(2);
  expect(new Set(leads)).toEqual(new Set([leadId, after]));
  expect(between.events).toEqual([]);
});

test('a limited user gets what concerns visible records, and only permitted kinds', async () => {
  const mine = await setUp(world.company.api, 'Granted');
  const permissions = ['calls:read', 'buyers:read', 'lead_logs:read', 'buyer_groups:read'];
  const buyerIds = [mine.buyer];
  const limited = await createMember(world.company, 'limited@example.com', {
    permissions,
    buyer_ids: buyerIds,
  });
  const noCalls = await createMember(world.company, 'caps@example.com', {
    permissions: ['buyers:read'],
    buyer_ids: buyerIds,
  });
  const [start, startCaps] = [await readFrom(limited.token), await readFrom(noCalls.token)];
  await call(world.company.api, offer);
  await lead(world.company.api, offer);
  const sold = await call(world.company.api, mine.offer);
  const { events } = await readFrom(limited.token, { after: start.last_id });
  const of = (kind: string) => events.filter(({ event }) => event === kind).map((e) => e.data);
  const listed = await limited.api('get', `calls/${sold}/events`);
  expect(of('call').map(({ id }) => id)).toEqual(
    listed.body.call_events.map(({ id }: { id: number }) => id),
  );
  expect(of('call').length).toBeGreaterThan(0);
  expect(of('cap')).toEqual([{ buyer_id: mine.buyer, buyer_group_id: null }]);
  expect(of('lead')).toEqual([]);
  const caps = await readFrom(noCalls.token, { after: startCaps.last_id });
  expect(new Set(caps.events.map(({ event }) => event))).toEqual(new Set(['cap']));
  const none = await noCalls.api('get', path, { query: { kinds: 'call,lead', wait_seconds: 0 } });
  expect([none.status, none.body.code]).toEqual([403, 'not_permitted']);
});

test('nothing of another company is sent', async () => {
  const theirs = await world.addCompany('Theirs');
  const reader = await createMember(theirs, 'theirs@example.com', { superuser: true });
  const { last_id } = await readFrom(reader.token);
  await call(world.company.api, offer);
  await lead(world.company.api, offer);
  expect((await readFrom(reader.token, { after: last_id })).events).toEqual([]);
  // Nor with a position of a reader of that company.
  const { events } = await readFrom(admin.token, { after: last_id });
  expect(events.length).toBeGreaterThan(0);
  expect((await readFrom(reader.token, { after: events[0]!.id })).events).toEqual([]);
});

test('a position that is too old or of another server is answered with reset', async () => {
  const { last_id } = await readFrom(admin.token);
  const id = readEventId(last_id, 'id', world.deps.pepper);
  id.position.server = '00000000';
  const elsewhere = writeEventId(id, world.deps.pepper);
  const replaced = await readFrom(admin.token, { after: elsewhere });
  expect(shape(replaced.events)).toEqual([['reset', { reason: 'other_server' }]]);
  const before = clock.read();
  clock.set(new Date(before.getTime() + 25 * 3_600_000).toISOString());
  const old = await readFrom(admin.token, { after: last_id });
  expect(shape(old.events)).toEqual([['reset', { reason: 'too_old' }]]);
  expect((await readFrom(admin.token, { after: old.last_id })).events).toEqual([]);
  clock.set(before.toISOString());
  // Ids of releases before were not signed.
  const unsigned = await readFrom(admin.token, {
    after: last_id.split('.').slice(0, -1).join('.'),
  });
  expect(shape(unsigned.events)).toEqual([['reset', { reason: 'too_old' }]]);
  const wrong = await admin.api('get', path, { query: { last_event_id: '7', wait_seconds: 0 } });
  expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['last_event_id']]);
});

test('a stream ends when its credentials are revoked, and when their permissions change', async () => {
  const permissions = ['calls:read', 'buyers:read'];
  const user = await createMember(world.company, 'leaving@example.com', { permissions });
  const tokenResponse = await api('post', 'access_tokens', {
    body: { name: 'second', kind: 'user_token', user_email: user.email },
  });
  const [first, second] = [await open(user.token), await open(tokenResponse.body.token, 1)];
  await api('delete', `access_tokens/${tokenResponse.body.access_token.id}`);
  expect(await second.ended).toBe(true);
  const caps = withToken(api, user.token);
  expect((await caps('get', 'me')).status).toBe(200);
  await api('put', `access_control_lists/${user.team}`, { body: { permissions: ['buyers:read'] } });
  expect(await first.ended).toBe(true);
});

test('credentials have five streams; all end when the process stops', async () => {
  const user = await createMember(world.company, 'many@example.com', {
    permissions: ['calls:read'],
  });
  const readers = await Promise.all(Array.from({ length: 5 }, () => open(user.token, 1)));
  const sixth = await open(user.token, 1);
  expect([sixth.status, (sixth.problem as unknown as { code: string }).code]).toEqual([
    429,
    'too_many_at_once',
  ]);
  otherDeps.live.close();
  for (const reader of readers) expect([reader.status, await reader.ended]).toEqual([200, true]);
});
