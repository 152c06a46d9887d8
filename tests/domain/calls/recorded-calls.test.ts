import { Client } from 'pg';
import { changeDollars } from '../../../src/domain/calls/settle';
import { handleCallEvent } from '../../../src/domain/calls/handle-event';
import type { Statements } from '../../../src/data/db';
import { createCallWriter, type CallFields } from '../../support/calls';
import { addRecording } from '../../support/recorded-calls';
import { softswitch } from '../../support/softswitch';

// Records that the statements which write calls make: events for webhooks and schedules, and
// counts.

const NOON = '2026-06-01T16:00:00Z';
const here = softswitch(NOON);
const { ok, begin, report, later } = here;

const KINDS = [
  'new_call_started',
  'buyer_dialled',
  'buyer_answered',
  'buyer_converted',
  'offer_converted',
  'every_call',
  'buyer_did_not_convert',
  'call_changed',
];
const createHooks = () =>
  Promise.all(
    KINDS.map((triggerType) =>
      ok('post', 'outgoing_webhooks', {
        name: 'Hook',
        trigger_type: triggerType,
        url: 'https://example.com/hook',
      }),
    ),
  );
interface Event {
  kind: string;
  revenue: number;
  lead: number | null;
}
/** The events that were recorded since the last look. */
const takeEvents = () =>
  here.world.sql<Event>(
    `WITH e AS (DELETE FROM webhook_events WHERE company_id = $1 RETURNING *)
    SELECT kind, (snapshot->'call'->>'revenue')::float8 AS revenue,
      (snapshot->'lead'->>'revenue')::float8 AS lead
    FROM e ORDER BY id`,
    [here.world.company.id],
  );
const takeKinds = async () => (await takeEvents()).map(({ kind }) => kind).toSorted();
const takeScheduledKinds = async () =>
  (
    await here.world.sql<{ kind: string }>(
      'DELETE FROM schedule_events WHERE company_id = $1 RETURNING kind',
      [here.world.company.id],
    )
  )
    .map(({ kind }) => kind)
    .toSorted();

/** A connected call of a lead, at an offer whose schedules start by the ends of calls. */
async function createConnectedCall() {
  const buyer = await here.buyer();
  const offer = await here.offer({ buyer_ids: [buyer] });
  const triggers = ['call_missed', 'call_not_converted', 'call_converted'].map((on) => ({ on }));
  await ok('post', 'schedules', { name: 'Follow up', offer_id: offer, triggers });
  await ok('post', 'leads/capture', { offer_id: offer, caller_id: '+13105550177' });
  const call = await begin(offer, { caller_number: '+13105550177' });
  await report(call, 'answered');
  later(90);
  await createHooks();
  await takeEvents();
  await takeScheduledKinds();
  const now = new Date(here.world.deps.clock());
  const convert = (db: Statements) =>
    changeDollars(
      db,
      { call_id: call.id, answered_seconds: 90, now },
      { buyer_converted: true, revenue: 12 },
    );
  const db = here.world.deps.tenants.of(here.world.company.id);
  return { call, convert, db, now };
}

const END = { event: 'completed', duration: 90 } as const;

describe('the state at the end of a transaction counts', () => {
  test('of a call that ends and then converts', async () => {
    const { call, convert, db, now } = await createConnectedCall();
    await db.transaction(async (tx) => {
      await handleCallEvent(tx, call.id, END, now);
      await convert(tx);
    });
    const recordedEvents = await takeEvents();
    expect(recordedEvents.map(({ kind }) => kind).toSorted()).toEqual([
      'buyer_converted',
      'every_call',
    ]);
    for (const event of recordedEvents) expect(event).toMatchObject({ revenue: 12, lead: 12 });
    expect(await takeScheduledKinds()).toEqual(['call_converted']);
  });

  test('of each of two transactions', async () => {
    const { call, convert, db, now } = await createConnectedCall();
    await db.transaction((tx) => handleCallEvent(tx, call.id, END, now));
    const [ended] = await takeEvents();
    expect(ended).toMatchObject({ revenue: 0, lead: 0 });
    await db.statements(convert);
    for (const event of await takeEvents()) expect(event).toMatchObject({ revenue: 12, lead: 12 });
    expect(await takeScheduledKinds()).toEqual(['call_converted', 'call_not_converted']);
  });
});

test('an outcome that a transaction does not commit is not recorded', async () => {
  const { call, db, now } = await createConnectedCall();
  const lost = db.statements(async (tx) => {
    await handleCallEvent(tx as never, call.id, END, now);
    throw new Error('no');
  });
  await expect(lost).rejects.toThrow('no');
  expect([await takeEvents(), await takeScheduledKinds()]).toEqual([[], []]);
});

describe('of a call that has ended', () => {
  const ENDED: CallFields = { ended_at: NOON, updated_at: NOON, carrier: 'sandbox' };
  const after = async (set: string) => {
    const { company } = here.world;
    const { id } = await createCallWriter(here.world, company).call(ENDED);
    await createHooks();
    await takeEvents();
    await here.world.sql(
      addRecording(`UPDATE calls SET updated_at = '2026-06-01T16:01:00Z', ${set} WHERE id = ${id}`),
    );
    return takeKinds();
  };

  test.each([
    'revenue = 3',
    'payout = 3',
    `status = 'busy'`,
    'answered_duration = 3',
    'total_duration = 3',
    `hangup_cause = 'lost'`,
    `recording_url = 'https://example.com/a.mp3'`,
    `token_values = '{"zip":"90001"}'`,
    'provider_cost = 0.01',
    `disposition_notes = 'Sold'`,
    `quality_assurance_name = 'Ann'`,
    'buyer_converted = true',
  ])('a change is an event: %s', async (set) => {
    expect(await after(set)).toEqual(['call_changed']);
  });

  test.each(['conferences = 3', `sub_id = 'x'`, 'service_cost = 3', `status = 'completed'`])(
    'what nobody waits for is none: %s',
    async (set) => {
      expect(await after(set)).toEqual([]);
    },
  );

  test('that its source is paid is one of its own, beside the change', async () => {
    expect(await after('traffic_source_converted = true, payout = 3')).toEqual([
      'call_changed',
      'offer_converted',
    ]);
  });
});

test('a call that waits for its carrier has not started; once it has, it has once', async () => {
  await createHooks();
  await takeEvents();
  const { company, sql } = here.world;
  const { id } = await createCallWriter(here.world, company).call({
    ...{ direction: 'outbound', status: 'sending', ended_at: null },
  });
  expect(await takeKinds()).toEqual([]);
  for (const status of ['queued', 'ringing'])
    await sql(addRecording(`UPDATE calls SET status = '${status}' WHERE id = ${id}`));
  expect(await takeKinds()).toEqual(['new_call_started']);
});

test('counts are exact, and no transaction waits for another that counts', async () => {
  const { company, url, sql } = here.world;
  const { id: trafficSourceId } = (await ok('post', 'traffic_sources', { name: 'Counted' }))
    .traffic_source;
  const { call } = createCallWriter(here.world, company);
  const createdAt = '2026-01-01T00:00:00Z';
  const ids: number[] = [];
  for (let n = 0; n < 12; n++)
    ids.push(
      (await call({ id: 9_000_000 + n, created_at: createdAt, traffic_source_id: trafficSourceId }))
        .id,
    );
  const converted = async () =>
    (
      await company.api('get', 'calls', {
        query: { traffic_source_id: trafficSourceId, buyer_converted: true },
      })
    ).body.metadata.total_count;
  const before = await sql<{ n: string }>(
    `SELECT sum(n) AS n FROM record_counts WHERE company_id = $1 AND resource = $2`,
    [company.id, 'calls/buyer_converted'],
  );
  // All are open at once, and a wait of any would fail.
  const clients = await Promise.all(
    ids.map(async () => {
      const client = new Client({ connectionString: url, options: '-c lock_timeout=2s' });
      await client.connect();
      await client.query('BEGIN');
      return client;
    }),
  );
  const set = 'buyer_converted = true, deleted_at = CASE WHEN id % 3 = 0 THEN now() END';
  for (const [n, client] of clients.entries())
    await client.query(addRecording(`UPDATE calls SET ${set} WHERE id = ${ids[n]}`));
  for (const [n, client] of clients.entries()) {
    await client.query(n % 4 === 0 ? 'ROLLBACK' : 'COMMIT');
    await client.end();
  }
  const left = await sql<{ n: string }>(
    `SELECT count(*) AS n FROM calls
    WHERE company_id = $1 AND buyer_converted AND deleted_at IS NULL AND traffic_source_id = $2`,
    [company.id, trafficSourceId],
  );
  expect(Number(left[0]!.n)).toBe(6);
  expect(await converted()).toBe(6);
  const now = await sql<{ n: string }>(
    `SELECT sum(n) AS n FROM record_counts WHERE company_id = $1 AND resource = $2`,
    [company.id, 'calls/buyer_converted'],
  );
  expect(Number(now[0]!.n) - Number(before[0]!.n)).toBe(6);
  const shown = (await ok('get', `traffic_sources/${trafficSourceId}`)).traffic_source;
  expect(shown.calls_count).toBe(9);
});
