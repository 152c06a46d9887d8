import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { handleCallEvent, type ReportedEvent } from '../../../src/domain/calls/handle-event';
import { softswitch } from '../../support/softswitch';
import { STUCK } from '../../support/contacts';

// An event of a call is one statement that reads and one that writes; the read is shared with the
// events of other calls that arrive at the same time.

const NOON = '2026-06-01T16:00:00Z';
const here = softswitch(NOON);
const { ok, begin, report, later } = here;

/**
 * A buyer in a group that pays once in an hour for a caller, at an offer that pays its source so.
 */
async function createPayingOffer() {
  const attributes = { name: 'Minute', conversion_type: 'duration', duration: 60, revenue: 10 };
  const buyer = await here.buyer({
    buyer_conversions_schedule: [
      {
        buyer_conversions_attributes: [{ ...attributes, duplicate_timeframe: 3_600 }],
        schedule: [],
      },
    ],
    record_token_additional_data: ['team:red'],
  });
  const group = await here.group({ buyer_ids: [buyer] });
  const terms = { payout_type: 'fixed', amount: 3, paid_for: 'duration', duration: 60 };
  const offer = await here.offer({
    buyer_group_ids: [group],
    payouts: [{ ...terms, duplicate_timeframe: 3_600 }],
  });
  const { id: trafficSourceId } = (await ok('post', 'traffic_sources', { name: 'Ads' }))
    .traffic_source;
  return { buyer, group, offer, call: () => begin(offer, { traffic_source_id: trafficSourceId }) };
}

const loadCall = async ({ id }: { id: number }) => (await ok('get', `calls/${id}`)).call;
const waitUntilStuck = async () => {
  while ((await here.world.deps.database.pool.query(STUCK)).rowCount === 0) await setTimeout(20);
};
/** Runs work while another connection has an open transaction, which commits once both wait. */
async function runWhileOpen<T>(before: string[], work: () => Promise<T>, after: string[] = []) {
  for (const statement of ['BEGIN', ...before]) await here.world.sql(statement);
  const working = work();
  await waitUntilStuck();
  for (const statement of [...after, 'COMMIT']) await here.world.sql(statement);
  return working;
}

test('an event is one read and one write, and one that says nothing new is one read', async () => {
  const { call } = await createPayingOffer();
  const { id } = await call();
  const db = here.world.deps.tenants.ofRequest(here.world.company.id, 'routing');
  const querySpy = jest.spyOn(Client.prototype, 'query');
  const captureStatements = async (event: ReportedEvent) => {
    querySpy.mockClear();
    await handleCallEvent(db, id, event, here.time.read());
    return querySpy.mock.calls.map(([query]) => (query as { name?: string }).name ?? query);
  };
  await handleCallEvent(db, id, { event: 'ringing' }, here.time.read());
  const [read, write] = ['calls.read_states_by_id', 'calls.apply_event'];
  expect(await captureStatements({ event: 'ringing' })).toEqual([read, write]);
  expect(await captureStatements({ event: 'answered' })).toEqual([read, write]);
  expect(await captureStatements({ event: 'answered' })).toEqual([read]);
  expect(await captureStatements({ event: 'duration', duration: 5 })).toEqual([read, write]);
  const completed = { event: 'completed', duration: 90 } as const;
  expect(await captureStatements(completed)).toEqual([read, write]);
  expect(await captureStatements(completed)).toEqual([read]);
  querySpy.mockRestore();
  expect(await loadCall({ id })).toMatchObject({ revenue: 10, payout: 3, status: 'completed' });
});

test('calls whose events arrive together are read together, each as its event needs it', async () => {
  const { offer, call } = await createPayingOffer();
  const [first, second, third] = [await call(), await call(), await begin(offer)];
  await report(second, 'answered');
  later(90);
  const db = here.world.deps.tenants.ofRequest(here.world.company.id, 'routing');
  const querySpy = jest.spyOn(Client.prototype, 'query');
  const handled = await Promise.allSettled([
    handleCallEvent(db, first.id, { event: 'answered' }, here.time.read()),
    handleCallEvent(db, 4_000_000_000, { event: 'answered' }, here.time.read()),
    handleCallEvent(db, second.id, { event: 'completed', duration: 90 }, here.time.read()),
    handleCallEvent(db, third.id, { event: 'ringing' }, here.time.read()),
  ]);
  const names = querySpy.mock.calls.map(([query]) => (query as { name?: string }).name ?? '');
  querySpy.mockRestore();
  expect(names.filter((name) => name.startsWith('calls.read_states'))).toHaveLength(1);
  const results = handled.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value.id : outcome.reason,
  );
  expect(results).toEqual([
    first.id,
    expect.objectContaining({ status: 404 }),
    second.id,
    third.id,
  ]);
  expect(await loadCall(first)).toMatchObject({ status: 'in_progress', revenue: 0 });
  expect(await loadCall(second)).toMatchObject({ status: 'completed', revenue: 10 });
  expect(await loadCall(third)).toMatchObject({ status: 'ringing' });
});

test('an event is decided again when the call has changed while it waited for it', async () => {
  const { call, buyer } = await createPayingOffer();
  const talk = await call();
  const instruction = await runWhileOpen(
    [`SELECT FROM calls WHERE id = ${talk.id} FOR UPDATE`],
    () => report(talk, 'answered'),
    [
      `UPDATE call_attempts SET status = 'no_answer', ended_at = '${NOON}'
      WHERE call_id = ${talk.id}`,
      `UPDATE calls SET status = 'no_answer', ended_at = '${NOON}' WHERE id = ${talk.id}`,
    ],
  );
  expect(instruction).toMatchObject({ action: 'hang_up' });
  expect(await loadCall(talk)).toMatchObject({ status: 'no_answer', connected_at: null });
  expect((await ok('get', `buyers/${buyer}`)).buyer).toMatchObject({ connection_total_used: 0 });
  expect(await here.loadEvents(talk)).not.toContain('answered');
});

test('an event is written once the one that holds the call changes nothing of it', async () => {
  const { call } = await createPayingOffer();
  const talk = await call();
  const instruction = await runWhileOpen(
    [`SELECT FROM calls WHERE id = ${talk.id} FOR UPDATE`],
    () => report(talk, 'answered'),
  );
  expect(instruction).toMatchObject({ action: 'connect' });
  expect(await here.loadEvents(talk)).toContain('answered');
});

test('a payment that is committed while a call waits for the caps is seen by it', async () => {
  const { call, buyer } = await createPayingOffer();
  const [first, second] = [await call(), await call()];
  for (const session of [first, second]) await report(session, 'answered');
  later(90);
  const paid = {
    columns: 'company_id, call_id, buyer_id, caller_number, revenue, created_at',
    values: `${here.world.company.id}, ${first.id}, ${buyer}, 13105550188, 10, '${NOON}'`,
  };
  await runWhileOpen(
    [
      `SELECT FROM call_limits WHERE buyer_id = ${buyer} FOR UPDATE`,
      `INSERT INTO conversions (uuid, ${paid.columns})
      VALUES (gen_random_uuid(), ${paid.values})`,
    ],
    () => report(second, 'completed', { duration: 90 }),
  );
  expect(await loadCall(second)).toMatchObject({
    buyer_converted: false,
    buyer_repeat_caller: true,
  });
  expect(await here.loadEvents(second)).toContain('not_converted');
});

test('of calls of one caller that end at the same moment one is paid, and its source once', async () => {
  const { call, buyer, group } = await createPayingOffer();
  const talks = await Promise.all(Array.from({ length: 12 }, call));
  await Promise.all(talks.map((session) => report(session, 'answered')));
  later(90);
  await Promise.all(talks.map((session) => report(session, 'completed', { duration: 90 })));
  const calls = await Promise.all(talks.map(loadCall));
  const count = (column: string) => calls.filter((row) => row[column]).length;
  expect({
    buyer_converted: count('buyer_converted'),
    buyer_repeat_caller: count('buyer_repeat_caller'),
    payout: count('payout'),
    traffic_source_repeat_caller: count('traffic_source_repeat_caller'),
  }).toEqual({
    buyer_converted: 1,
    buyer_repeat_caller: 11,
    payout: 1,
    traffic_source_repeat_caller: 11,
  });
  const counted = {
    buyer_conversion_total_used: 1,
    revenue_total_used: 10,
    earned_revenue_total_used: 7,
    connection_total_used: 12,
  };
  expect((await ok('get', `buyers/${buyer}`)).buyer).toMatchObject(counted);
  expect((await ok('get', `buyer_groups/${group}`)).buyer_group).toMatchObject(counted);
});

test('the tokens of its buyer and of the conversion reach the call, those of the buyer its lead', async () => {
  const { offer, call } = await createPayingOffer();
  const { lead_token } = (await ok('get', `offers/${offer}`)).offer;
  const lead = await here.world.company.api('post', 'leads', {
    auth: null,
    query: { lead_token, caller_id: '+13105550188', plan: 'gold' },
  });
  const talk = await call();
  await report(talk, 'answered');
  const shown = async () => (await ok('get', `leads/${lead.body.id}`)).lead;
  expect((await loadCall(talk)).token_values).toMatchObject({ plan: 'gold', team: 'red' });
  expect((await shown()).data).toMatchObject({ plan: 'gold', team: 'red' });
  await report(talk, 'completed', { duration: 90 });
  expect(await shown()).toMatchObject({
    revenue: 10,
    payout: 3,
    buyer_converted: true,
    offer_converted: true,
  });
});

test('what several buyers have paid leaves nothing over: the next one pays its own amount', async () => {
  const { call } = await createPayingOffer();
  const talk = await call();
  for (const dollars of [0.1, 0.2])
    await here.world.sql(
      `INSERT INTO conversions (company_id, uuid, call_id, buyer_id, revenue, payout)
      VALUES ($1, gen_random_uuid(), $2, $3, $4, 0)`,
      [here.world.company.id, talk.id, await here.buyer({}), dollars],
    );
  await here.world.sql('UPDATE calls SET revenue = 0.3, buyer_revenue = 0.3 WHERE id = $1', [
    talk.id,
  ]);
  await report(talk, 'answered');
  await report(talk, 'completed', { duration: 90 });
  expect(await loadCall(talk)).toMatchObject({ revenue: 10.3, buyer_converted: true });
});

describe('a call counts in the report for the group through which its buyer was selected', () => {
  const listKeys = async () => {
    const { rows } = await ok('get', 'calls/reports/grouped?group_by=buyer,buyer_group');
    return rows.map(({ groups }: { groups: { key: string | null }[] }) =>
      groups.map(({ key }) => key && Number(key)),
    );
  };

  async function beginCall() {
    const [first, second, third, direct] = [
      await here.buyer(),
      await here.buyer(),
      await here.buyer({ tier: 2 }),
      await here.buyer({ tier: 3 }),
    ];
    const rung = { dial_buyers_type: 'simultaneously', buyer_ids: [first, second] };
    const [together, alone] = [
      await here.group(rung),
      await here.group({ tier: 2, buyer_ids: [third] }),
    ];
    const buyers = { buyer_group_ids: [together, alone], buyer_ids: [direct] };
    const call = await begin(await here.offer(buyers));
    const dial: { attempt: string; buyer_id: number }[] = call.instruction.dial;
    return { call, dial, ids: { first, second, third, direct, together, alone } };
  }

  test('from the dialing on, and when another buyer of the round takes it', async () => {
    const { call, dial, ids } = await beginCall();
    expect(await listKeys()).toEqual([[dial[0]!.buyer_id, ids.together]]);
    await report(call, 'answered', { attempt: dial[1]!.attempt });
    expect(await listKeys()).toEqual([[dial[1]!.buyer_id, ids.together]]);
    await report(call, 'completed', { duration: 5 });
    expect(await listKeys()).toEqual([[dial[1]!.buyer_id, ids.together]]);
  });

  test('after each failover, and when no buyer is left', async () => {
    const { call, dial, ids } = await beginCall();
    for (const { attempt } of dial) await report(call, 'no_answer', { attempt });
    expect(await listKeys()).toEqual([[ids.third, ids.alone]]);
    await report(call, 'no_answer');
    expect(await listKeys()).toEqual([[ids.direct, null]]);
    await report(call, 'no_answer');
    expect(await listKeys()).toEqual([[ids.direct, null]]);
  });
});
