import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { on, setUp, time, world } from '../../support/carrier-calls';
import type { Bought } from '../../support/switchboard';

// A carrier that dials by TwiML may report nothing between the first ring and the end, and its last
// reports may come late, twice, in any order, and after the call was considered over. The buyer
// pays for the seconds that it has talked, once, whatever was missing.

setUp();

const START = Date.parse('2026-06-01T12:30:00Z');
const at = (seconds: number) => time.set(new Date(START + seconds * 1000).toISOString());
const LIMIT = 14_400;
const PAYS = { current_conversion_revenue: 20, current_conversion_duration: 90, prepaid: true };
const KINDS = ['buyer_answered', 'buyer_converted', 'buyer_did_not_convert', 'call_changed'];

/** Posts of the carrier when it has dialed, and when the caller's side is over. */
interface Ringing {
  sid: string;
  /** With the fields of the end of the dialing. */
  endDial(more?: Record<string, string>): Promise<unknown>;
  endCall(more?: Record<string, string>): Promise<unknown>;
  answer(): Promise<unknown>;
}

const TALKED = { DialCallStatus: 'completed', DialBridged: 'true', DialCallDuration: '95' };
const TALKED_ONCE = { CallStatus: 'completed', CallDuration: '95' };
let calls = 0;

/** A caller to whom the carrier dials the buyers, of whom it reports nothing. */
async function ring(from = '+13105550188'): Promise<Ringing> {
  const sid = `CA-late-${++calls}`;
  const caller = { CallSid: sid, From: from, To: on.companyNumber };
  const { children } = await on.twiml(on.hook('voice'), { ...caller, CallStatus: 'ringing' });
  const dial = children.find(({ name }) => name === 'Dial')!;
  const [first] = dial.children;
  const post = (url: string, params: Record<string, string>) =>
    on.twiml(url, { ...caller, ...params });
  return {
    sid,
    endDial: (more = {}) =>
      post(dial.attributes.action!, { CallStatus: 'completed', ...TALKED, ...more }),
    endCall: (more = {}) => post(on.hook('voice_status'), { ...TALKED_ONCE, ...more }),
    answer: () =>
      on.twiml(first!.attributes.statusCallback!, {
        CallSid: `${sid}-1`,
        CallStatus: 'in-progress',
      }),
  };
}

async function prepaid(fields: object = {}): Promise<Bought> {
  const buyer = await on.buyer({ ...PAYS, ...fields });
  await on.ok('post', 'account_entries', { buyer_id: buyer.id, kind: 'deposit', amount: 1000 });
  return buyer;
}

async function createHooks(offer: number): Promise<void> {
  for (const triggerType of KINDS)
    await on.ok('post', 'outgoing_webhooks', {
      ...{ name: triggerType, trigger_type: triggerType, owner_type: 'Offer', owner_id: offer },
      url: 'https://hooks.example.com/',
    });
}

/** Kinds of the webhook events, in order. */
const listWebhookKinds = async () =>
  (
    await world.sql<{ kind: string }>(
      'SELECT kind FROM webhook_events WHERE company_id = $1 AND kind = ANY ($2) ORDER BY id',
      [world.company.id, KINDS],
    )
  ).map(({ kind }) => kind);

/** Considers the call over, whatever its lease. */
const loseCalls = () =>
  endStaleCalls({ ...world.deps, clock: () => new Date(time.read().getTime() + 86_400_000) });

/** The call, and its effects on caps, entries, attempts and slots. */
async function readOutcome(ringing: Ringing, buyer: Bought) {
  const call = await on.loadCall(ringing);
  const [caps] = await world.sql(
    `SELECT l.balance::float8 AS balance, l.revenue_total_used::float8 AS revenue,
      (SELECT count(*)::int FROM account_entries e WHERE e.call_id = $2) AS entries,
      (SELECT count(*)::int FROM conversions v WHERE v.call_id = $2) AS conversions
    FROM call_limits l WHERE l.buyer_id = $1`,
    [buyer.id, call.id],
  );
  return {
    status: call.status,
    seconds: call.answered_duration,
    revenue: Number(call.revenue),
    ...caps,
    counts: await on.counts(buyer),
    attempts: await on.attempts(ringing),
    slots: await on.slots(),
  };
}

const PAID = {
  ...{ status: 'completed', seconds: 95, revenue: 20, balance: 980, entries: 1, conversions: 1 },
  ...{ counts: [1, 1, 1, 0], attempts: ['completed'], slots: 0 },
};
const UNPAID = {
  ...{ status: 'no_answer', seconds: null, revenue: 0, balance: 1000, entries: 0, conversions: 0 },
  ...{ counts: [1, 0, 0, 0], attempts: ['canceled'], slots: 0 },
};

test('a call of which no answer is reported keeps its slot as long as the carrier may', async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const call = await ring();
  at(30 + LIMIT);
  expect([await endStaleCalls(world.deps), await on.slots()]).toEqual([0, 1]);
  await call.endDial({ DialCallDuration: String(LIMIT) });
  expect(await readOutcome(call, buyer)).toEqual({ ...PAID, seconds: LIMIT });
});

test('a call is lost when the longest ring and the longest talk are over', async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const call = await ring();
  at(30 + LIMIT + 61);
  expect(await endStaleCalls(world.deps)).toBe(1);
  expect([(await on.loadCall(call)).hangup_cause, await on.slots()]).toEqual(['lost', 0]);
});

test('a conference for keys, which begins the limit of the carrier anew, keeps the slot', async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const call = await ring();
  await call.answer();
  at(10_000);
  await world.sql('UPDATE calls SET conferences = 1 WHERE carrier_call_id = $1', [call.sid]);
  await call.endDial({ CallStatus: 'in-progress' });
  at(10_000 + LIMIT);
  expect([await endStaleCalls(world.deps), await on.slots()]).toEqual([0, 1]);
});

test('the end of the dialing that comes after the loss is the end, once, with all that follows', async () => {
  const buyer = await prepaid();
  await createHooks(await on.offer([buyer]));
  const call = await ring();
  at(200);
  await loseCalls();
  expect([await readOutcome(call, buyer), await listWebhookKinds()]).toEqual([UNPAID, []]);
  at(300);
  await call.endDial();
  expect(await readOutcome(call, buyer)).toEqual(PAID);
  expect((await listWebhookKinds()).toSorted()).toEqual([
    'buyer_answered',
    'buyer_converted',
    'call_changed',
  ]);
  const row = await on.loadCall(call);
  expect([row.hangup_cause, row.connected_at, row.ended_at, row.buyer_id]).toEqual([
    'completed',
    new Date(START + 205_000),
    new Date(START + 300_000),
    String(buyer.id),
  ]);
  at(400);
  await call.endDial({ DialCallDuration: '500' });
  await call.endCall({ CallDuration: '600' });
  expect([await readOutcome(call, buyer), (await listWebhookKinds()).length]).toEqual([PAID, 3]);
  expect((await on.loadCall(call)).ended_at).toEqual(new Date(START + 300_000));
});

test('a late end without enough talk says that the buyer did not convert', async () => {
  const buyer = await prepaid();
  await createHooks(await on.offer([buyer]));
  const call = await ring();
  await loseCalls();
  at(300);
  await call.endDial({ DialCallDuration: '40' });
  const short = { seconds: 40, revenue: 0, balance: 1000, entries: 0, conversions: 0 };
  expect(await readOutcome(call, buyer)).toEqual({ ...PAID, ...short, counts: [1, 1, 0, 0] });
  expect((await listWebhookKinds()).toSorted()).toEqual([
    'buyer_answered',
    'buyer_did_not_convert',
    'call_changed',
  ]);
});

test("the end of the caller's side alone is the end too", async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const call = await ring();
  await loseCalls();
  at(300);
  await call.endCall();
  expect(await readOutcome(call, buyer)).toEqual(PAID);
  await call.endDial({ DialCallDuration: '94' });
  expect(await readOutcome(call, buyer)).toEqual(PAID);
});

test.each([
  ['a caller who heard a greeting', { greeting_message: 'Hello.' }, { CallDuration: '95' }],
  ['a caller who was never answered', {}, { CallStatus: 'no-answer', CallDuration: '0' }],
])('the end of %s invents no talk, and the dialing may still tell', async (_, fields, end) => {
  const buyer = await prepaid();
  await on.offer([buyer], fields);
  const call = await ring();
  await loseCalls();
  at(300);
  await call.endCall(end);
  expect(await readOutcome(call, buyer)).toEqual(UNPAID);
  expect((await on.loadCall(call)).hangup_cause).toBe('caller_hung_up');
  await call.endDial();
  expect(await readOutcome(call, buyer)).toEqual(PAID);
});

test('a buyer that had the call when it was lost has talked as long as was reported', async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  for (const [end, seconds] of [
    ['dial', 95],
    ['call', 97],
  ] as const) {
    time.set('2026-06-01T12:30:00Z');
    const call = await ring(`+1310555019${seconds % 10}`);
    await call.answer();
    at(120);
    await loseCalls();
    at(20_000);
    await (end === 'dial' ? call.endDial() : call.endCall({ CallDuration: '97' }));
    expect(await on.loadCall(call)).toMatchObject({ answered_duration: seconds, revenue: '20.00' });
  }
  expect(await on.counts(buyer)).toEqual([2, 2, 2, 0]);
});

test("the end of the caller's side that comes before that of the dialing costs nothing", async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const call = await ring();
  at(100);
  await call.endCall();
  expect(await readOutcome(call, buyer)).toEqual(UNPAID);
  await call.endDial();
  await call.endDial();
  expect(await readOutcome(call, buyer)).toEqual(PAID);
});

test('nobody pays who has not pressed 1', async () => {
  const buyer = await prepaid({ press_one_to_accept: true });
  await on.offer([buyer]);
  const call = await ring();
  await loseCalls();
  await call.endDial();
  await call.endCall();
  expect(await readOutcome(call, buyer)).toEqual(UNPAID);
});

test('nobody pays who has not answered', async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const call = await ring();
  await loseCalls();
  await call.endDial({ DialCallStatus: 'no-answer', DialBridged: 'false' });
  expect(await readOutcome(call, buyer)).toEqual(UNPAID);
});

test('nobody pays where several may have answered', async () => {
  await on.atOnce([await prepaid(), await prepaid()]);
  const several = await ring();
  await loseCalls();
  await several.endDial();
  expect([(await on.loadCall(several)).revenue, await on.attempts(several)]).toEqual([
    '0.00',
    ['canceled', 'canceled'],
  ]);
});

test('late ends and the look for lost calls at once move the dollars once', async () => {
  const buyer = await prepaid();
  await on.offer([buyer]);
  const ROUNDS = 10;
  for (let n = 0; n < ROUNDS; n++) {
    time.set('2026-06-01T12:30:00Z');
    const call = await ring(`+131055502${10 + n}`);
    if (n % 2) await loseCalls();
    at(300);
    const ends = [call.endDial, call.endDial, call.endCall, loseCalls, loseCalls];
    const ordered = [...ends.slice(n % ends.length), ...ends.slice(0, n % ends.length)];
    await Promise.all(ordered.map((end) => end()));
    expect([n, await on.attempts(call), (await on.loadCall(call)).revenue]).toEqual([
      n,
      ['completed'],
      '20.00',
    ]);
  }
  const total = 20 * ROUNDS;
  const [caps] = await world.sql(
    `SELECT l.revenue_total_used::float8 AS revenue, l.balance::float8 AS balance,
      l.pending_revenue::float8 AS pending,
      (SELECT sum(amount)::float8 FROM account_entries e WHERE e.buyer_id = l.buyer_id) AS entries
    FROM call_limits l WHERE l.buyer_id = $1`,
    [buyer.id],
  );
  const balance = 1000 - total;
  expect(caps).toEqual({ revenue: total, balance, pending: 0, entries: balance });
  expect([await on.counts(buyer), await on.slots()]).toEqual([[ROUNDS, ROUNDS, ROUNDS, 0], 0]);
});
