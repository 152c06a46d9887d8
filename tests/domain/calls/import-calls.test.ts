import { softswitch } from '../../support/softswitch';
import { buildApp, caller } from '../../support/world';

// Calls that a switch reports after they took place: each counts once, at its own time.

/** Wednesday 11:00 in New York, where the windows of buyers end. */
const NOW = '2026-06-10T15:00:00Z';
const here = softswitch(NOW);
const { world, ok, buyer, offer, begin, report, loadEvents, later, time } = here;
const { create } = world;

type Fields = Record<string, unknown>;
interface Result {
  index: number;
  call_sid: string | null;
  result: string;
  id: number;
  errors: Record<string, string[]>;
}

const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 60 };
const TODAY = { started_at: '2026-06-10T14:10:00Z', ended_at: '2026-06-10T14:15:00Z' };
const YESTERDAY = { started_at: '2026-06-09T14:10:00Z', ended_at: '2026-06-09T14:15:00Z' };
const CALLER = '+13105550188';
let sids = 0;
const row = (fields: Fields) => ({
  call_sid: `away-${(sids += 1)}`,
  caller_number: CALLER,
  ...TODAY,
  ...fields,
});
const send = async (calls: Fields[]): Promise<Result[]> =>
  (await ok('post', 'call_sessions/import', { calls })).results;
const importOne = async (fields: Fields): Promise<Result> => {
  const [result] = await send([row(fields)]);
  expect(result).toMatchObject({ result: 'imported', errors: {} });
  return result!;
};
const show = async (path: string) => ok('get', path);
const readUsed = async (id: number) => {
  const { buyer: shown } = await show(`buyers/${id}`);
  return (metric: string) =>
    ['hourly', 'daily', 'monthly', 'total'].map((window) => shown[`${metric}_${window}_used`]);
};
const listEntries = async (query: string) =>
  (await show(`account_entries?${query}&order=created_at`)).account_entries.map(
    ({ created_at, kind, amount }: Fields) => [
      new Date(String(created_at)).toISOString(),
      kind,
      amount,
    ],
  );

describe('an imported call', () => {
  test('is as one that was routed, with its own times, and its history says that it was not', async () => {
    const id = await buyer(PAYS);
    const source = await create('traffic_sources', { name: 'Ads' });
    const offerId = await offer({
      buyer_ids: [id],
      payouts: [{ payout_type: 'percentage', amount: 30 }],
    });
    await ok('post', 'switches', { name: 'edge' });
    const { id: callId } = await importOne({
      ...{ offer_id: offerId, buyer_id: id, duration: 240, by: 'buyer', switch: 'edge' },
      ...{ traffic_source_id: source, tokens: { state: 'CA' }, sip: { attestation: 'A' } },
    });
    const { call } = await show(`calls/${callId}`);
    expect(call).toMatchObject({
      ...{ category: 'inbound', status: 'completed', hangup_cause: 'buyer_hung_up' },
      ...{ buyer_id: id, offer_id: offerId, traffic_source_id: source, caller_number: CALLER },
      ...{ revenue: 10, payout: 3, buyer_converted: true },
      ...{ total_duration: 300, answered_duration: 240 },
      token_values: { state: 'CA', sip_attestation: 'A' },
    });
    expect([call.created_at, call.answered_at, call.ended_at].map((at) => Date.parse(at))).toEqual(
      ['2026-06-10T14:10:00Z', '2026-06-10T14:11:00Z', '2026-06-10T14:15:00Z'].map(Date.parse),
    );
    expect(await loadEvents({ id: callId })).toEqual([
      ...['started', 'imported', 'dialed', 'answered', 'completed'],
      ...['converted', 'payout'],
    ]);
    const { decisions, billing } = await show(`calls/${callId}/decision`);
    expect([decisions, billing.billed]).toEqual([
      [expect.objectContaining({ action: 'dial', reason: 'imported', buyer_ids: [id], caps: [] })],
      true,
    ]);
    expect(decisions[0].message).toContain('while the service was away');
    const { call_attempts: attempts } = await show(`calls/${callId}/attempts`);
    expect(attempts).toEqual([expect.objectContaining({ buyer_id: id, status: 'completed' })]);
    expect(
      await world.sql('SELECT FROM call_slots WHERE company_id = $1', [world.company.id]),
    ).toHaveLength(0);
  });

  test('that its buyer did not take, or that no buyer got, is no connection', async () => {
    const id = await buyer(PAYS);
    const offerId = await offer({ buyer_ids: [id] });
    const missed = await importOne({ offer_id: offerId, buyer_id: id });
    const lost = await importOne({ offer_id: offerId, hangup_cause: 'no agent' });
    expect((await show(`calls/${missed.id}`)).call).toMatchObject({
      ...{ status: 'no_answer', buyer_id: id, hangup_cause: 'caller_hung_up', revenue: 0 },
    });
    expect((await show(`calls/${lost.id}`)).call).toMatchObject({
      ...{ status: 'no_answer', buyer_id: null, hangup_cause: 'no agent', total_duration: 300 },
    });
    const used = await readUsed(id);
    expect([used('attempt'), used('connection')]).toEqual([
      [0, 1, 1, 1],
      [0, 0, 0, 0],
    ]);
  });

  test('fires the webhooks of a call once', async () => {
    const id = await buyer(PAYS);
    const offerId = await offer({ buyer_ids: [id] });
    for (const kind of ['every_call', 'new_call_started', 'buyer_did_not_convert'])
      await ok('post', 'outgoing_webhooks', {
        ...{ name: kind, url: 'https://crm.example.com/', trigger_type: kind },
      });
    const calls = [row({ offer_id: offerId, buyer_id: id, duration: 30 })];
    await send(calls);
    await send(calls);
    const events = await world.sql<{ kind: string }>(
      'SELECT kind FROM webhook_events WHERE company_id = $1 ORDER BY kind',
      [world.company.id],
    );
    expect(events.map(({ kind }) => kind)).toEqual([
      ...['buyer_did_not_convert', 'every_call', 'new_call_started'],
    ]);
  });
});

describe('caps count an imported call', () => {
  const LIMITS = { attempt_daily_limit: 100, revenue_daily_limit: 1000 };

  test('in the windows that contain its beginning, and in no later one', async () => {
    const id = await buyer({ ...PAYS, ...LIMITS });
    const offerId = await offer({ buyer_ids: [id] });
    const call = await begin(offerId, { call_sid: 'live' });
    await report(call, 'answered');
    await report(call, 'completed', { duration: 10 });
    const paid = { offer_id: offerId, buyer_id: id, duration: 240 };
    const times = [
      ['2026-05-31T20:00:00Z', [1, 1, 1, 2]],
      ['2026-06-09T14:10:00Z', [1, 1, 2, 3]],
      // 00:10 in New York, and ten minutes before.
      ['2026-06-10T04:10:00Z', [1, 2, 3, 4]],
      ['2026-06-10T03:50:00Z', [1, 2, 4, 5]],
      ['2026-06-10T14:50:00Z', [1, 3, 5, 6]],
      ['2026-06-10T15:00:00Z', [2, 4, 6, 7]],
    ] as const;
    for (const [n, [at, counts]] of times.entries()) {
      const startedAt = new Date(at);
      const end = new Date(Math.min(startedAt.getTime() + 300_000, Date.parse(NOW)));
      const duration = end > startedAt ? paid.duration : 0;
      await importOne({
        ...{ ...paid, duration, caller_number: `+1310555${1000 + n}` },
        ...{ started_at: at, ended_at: end.toISOString() },
      });
      const used = await readUsed(id);
      expect([at, used('attempt'), used('connection')]).toEqual([at, counts, counts]);
    }
    expect((await readUsed(id))('revenue')).toEqual([0, 20, 40, 50]);
  });

  test('where nothing was counted yet, and a window that it opens ends in its time', async () => {
    const id = await buyer({ ...PAYS, ...LIMITS });
    const offerId = await offer({ buyer_ids: [id] });
    await importOne({ offer_id: offerId, buyer_id: id, duration: 240, ...YESTERDAY });
    expect((await readUsed(id))('attempt')).toEqual([0, 0, 1, 1]);
    await importOne({ offer_id: offerId, buyer_id: id, duration: 240 });
    expect((await readUsed(id))('attempt')).toEqual([0, 1, 2, 2]);
    later(3600 * 14);
    expect((await readUsed(id))('attempt')).toEqual([0, 0, 2, 2]);
  });

  test('beyond them, which its history says; yesterday does not use up today', async () => {
    const id = await buyer({ ...PAYS, connection_daily_limit: 1 });
    const offerId = await offer({ buyer_ids: [id] });
    const paid = { offer_id: offerId, buyer_id: id, duration: 240 };
    const yesterday = await importOne({ ...paid, ...YESTERDAY });
    expect(await loadEvents(yesterday)).not.toContain('over_cap');
    const live = await begin(offerId);
    expect(live.instruction.action).toBe('dial');
    await report(live, 'completed');
    const first = await importOne(paid);
    expect(await loadEvents(first)).not.toContain('over_cap');
    const second = await importOne(paid);
    const { call_events: events } = await show(`calls/${second.id}/events`);
    expect(events.filter(({ event }: Fields) => event === 'over_cap')).toEqual([
      expect.objectContaining({ message: 'counted beyond connection_daily (2 of 1)' }),
    ]);
    expect((await begin(offerId, { call_sid: 'next' })).instruction.action).not.toBe('dial');
  });

  test('of its group and its traffic source too', async () => {
    const id = await buyer(PAYS);
    const group = await here.group({ buyer_ids: [id], connection_daily_limit: 50 });
    const source = await create('traffic_sources', { name: 'Ads', attempt_daily_limit: 50 });
    const offerId = await offer({ buyer_group_ids: [group] });
    const call = { offer_id: offerId, buyer_id: id, duration: 240, traffic_source_id: source };
    await importOne(call);
    await importOne({ ...call, ...YESTERDAY });
    expect((await show(`buyer_groups/${group}`)).buyer_group).toMatchObject({
      ...{ connection_daily_used: 1, connection_monthly_used: 2, revenue_daily_used: 10 },
    });
    expect((await show(`traffic_sources/${source}`)).traffic_source).toMatchObject({
      ...{ attempt_daily_used: 1, attempt_monthly_used: 2 },
    });
  });
});

describe('the money of an imported call', () => {
  const draw = async (id: number, from: string, to: string) =>
    (
      await ok('post', 'statements', {
        ...{ buyer_id: id, from, to, time_zone: 'America/New_York' },
      })
    ).statement;

  test('is in the statement of its day', async () => {
    const id = await buyer({ ...PAYS, prepaid: true, credit_limit: 1000 });
    const offerId = await offer({ buyer_ids: [id] });
    await importOne({ offer_id: offerId, buyer_id: id, duration: 240, ...YESTERDAY });
    await importOne({ offer_id: offerId, buyer_id: id, duration: 240 });
    expect(await listEntries(`buyer_id=${id}`)).toEqual([
      ['2026-06-09T14:15:00.000Z', 'conversion', -10],
      ['2026-06-10T14:15:00.000Z', 'conversion', -10],
    ]);
    const statement = await draw(id, '2026-06-09T04:00:00Z', '2026-06-10T04:00:00Z');
    expect(statement).toMatchObject({ opening_balance: 0, closing_balance: -10, entries_count: 1 });
    expect((await show(`buyers/${id}`)).buyer.balance).toBe(-20);
  });

  test('is in the next statement, where that of its day is drawn up already', async () => {
    const id = await buyer(PAYS);
    const offerId = await offer({ buyer_ids: [id] });
    const midnight = '2026-06-10T04:00:00Z';
    const drawn = await draw(id, '2026-06-09T04:00:00Z', midnight);
    await importOne({ offer_id: offerId, buyer_id: id, duration: 240, ...YESTERDAY });
    expect((await show(`statements/${drawn.id}/lines`)).lines).toEqual([]);
    const next = await draw(id, midnight, '2026-06-10T14:30:00Z');
    expect(next).toMatchObject({ opening_balance: 0, closing_balance: -10, entries_count: 1 });
  });

  test('is due once for a caller who is paid for once, whichever call is reported first', async () => {
    const conversion = {
      ...{ name: 'Once', conversion_type: 'duration', duration: 60, revenue: 10 },
      duplicate_timeframe: 86_400,
    };
    const id = await buyer({
      buyer_conversions_schedule: [{ buyer_conversions_attributes: [conversion], schedule: [] }],
    });
    const offerId = await offer({ buyer_ids: [id] });
    const paid = { offer_id: offerId, buyer_id: id, duration: 240 };
    const at = (startedAt: string, endedAt: string) => ({
      ...{ started_at: startedAt, ended_at: endedAt },
    });
    const revenues = async (results: Result[]) =>
      Promise.all(results.map(async ({ id: call }) => (await show(`calls/${call}`)).call.revenue));
    // The later one stands first.
    const results = await send([
      row({ ...paid, ...TODAY }),
      row({ ...paid, ...at('2026-06-10T13:00:00Z', '2026-06-10T13:05:00Z') }),
    ]);
    expect(await revenues(results)).toEqual([0, 10]);
    // Eight days before and after, nothing was paid.
    expect(
      await revenues([
        await importOne({ ...paid, ...at('2026-06-02T13:00:00Z', '2026-06-02T13:05:00Z') }),
      ]),
    ).toEqual([10]);
    expect(
      await revenues([
        await importOne({ ...paid, ...at('2026-06-10T02:00:00Z', '2026-06-10T02:05:00Z') }),
      ]),
    ).toEqual([0]);
  });
});

describe('a call is imported once', () => {
  test('by two processes at the same time, and again later', async () => {
    const id = await buyer({ ...PAYS, prepaid: true });
    const offerId = await offer({ buyer_ids: [id] });
    const calls = [1, 2, 3].map((n) =>
      row({ offer_id: offerId, buyer_id: id, duration: 240, caller_number: `+1310555200${n}` }),
    );
    const other = caller(buildApp(world.openProcess()), world.company.auth);
    const apis = [world.company.api, other, world.company.api, other];
    const answers = await Promise.all(
      apis.map((api) => api('post', 'call_sessions/import', { body: { calls } })),
    );
    const results = answers.flatMap(({ body }) => body.results as Result[]);
    expect(results.map(({ result }) => result).sort()).toEqual([
      ...Array<string>(9).fill('exists'),
      ...Array<string>(3).fill('imported'),
    ]);
    expect(new Set(results.map(({ id: call }) => call)).size).toBe(3);
    later(60);
    expect((await send(calls)).map(({ result }) => result)).toEqual(Array(3).fill('exists'));
    const used = await readUsed(id);
    expect([used('attempt')[3], used('connection')[3], used('revenue')[3]]).toEqual([3, 3, 30]);
    expect((await show(`buyers/${id}`)).buyer.balance).toBe(-30);
    expect(await listEntries(`buyer_id=${id}`)).toHaveLength(3);
  });

  test('and one that was reported before is not changed', async () => {
    const id = await buyer(PAYS);
    const offerId = await offer({ buyer_ids: [id] });
    const call = await begin(offerId, { call_sid: 'known' });
    await report(call, 'answered');
    const before = await world.sql('SELECT c FROM calls c WHERE c.id = $1', [call.id]);
    const [result] = await send([
      row({ call_sid: 'known', offer_id: 'none of ours', started_at: '2020-01-01T00:00:00Z' }),
    ]);
    expect(result).toMatchObject({ result: 'exists', id: call.id });
    expect(await world.sql('SELECT c FROM calls c WHERE c.id = $1', [call.id])).toEqual(before);
    later(90);
    await report(call, 'completed', { duration: 90 });
    expect((await show(`calls/${call.id}`)).call.revenue).toBe(10);
  });

  test('while calls in progress want the caps of its buyer', async () => {
    const id = await buyer({ ...PAYS, attempt_daily_limit: 1000 });
    const offerId = await offer({ buyer_ids: [id] });
    const calls = [...Array(6).keys()].map((n) =>
      row({ offer_id: offerId, buyer_id: id, duration: 240, caller_number: `+131055530${10 + n}` }),
    );
    await Promise.all([
      send(calls.slice(0, 3)),
      send(calls.slice(3)),
      ...[...Array(6).keys()].map(async (n) => {
        const call = await begin(offerId, {
          ...{ call_sid: `busy-${n}`, caller_number: `+131055540${10 + n}` },
        });
        await report(call, 'answered');
        await report(call, 'completed', { duration: 70 });
      }),
    ]);
    const used = await readUsed(id);
    expect([used('attempt'), used('connection')[1], used('revenue')[1]]).toEqual([
      [6, 12, 12, 12],
      12,
      120,
    ]);
  });
});

describe('a call is refused', () => {
  test('with the reason by field, and the others are imported', async () => {
    const id = await buyer(PAYS);
    const offerId = await offer({ buyer_ids: [id] });
    const other = await world.addCompany();
    const theirs = await other.api('post', 'buyers', { body: { name: 'Theirs' } });
    const good = { offer_id: offerId, buyer_id: id, duration: 240 };
    const rows = [
      row(good),
      row({ ...good, started_at: 'yesterday' }),
      row({ ...good, started_at: '2026-05-01T00:00:00Z' }),
      row({ ...good, ended_at: '2026-06-10T15:10:00Z' }),
      row({ ...good, started_at: TODAY.ended_at, ended_at: TODAY.started_at }),
      row({ ...good, duration: 301 }),
      row({ ...good, buyer_id: undefined }),
      row({ ...good, buyer_id: String(theirs.body.buyer.id) }),
      row({ ...good, offer_id: 'no-such' }),
      row({ ...good, call_sid: null }),
      row({ ...good, nonsense: 1, duration: -1 }),
      'no call',
      row({ ...good, caller_number: '+13105550189' }),
    ] as Fields[];
    const results = await send(rows);
    expect(results.map(({ index }) => index)).toEqual([...rows.keys()]);
    expect(results.map(({ result, errors }) => [result, Object.keys(errors).sort()])).toEqual([
      ['imported', []],
      ['refused', ['started_at']],
      ['refused', ['started_at']],
      ['refused', ['ended_at']],
      ['refused', ['ended_at']],
      ['refused', ['duration']],
      ['refused', ['buyer_id']],
      ['refused', ['buyer_id']],
      ['refused', ['offer_id']],
      ['refused', ['call_sid']],
      ['refused', ['duration', 'nonsense']],
      ['refused', ['calls']],
      ['imported', []],
    ]);
    expect(results[2]!.errors).toEqual({ started_at: ['must be at most 31 days ago'] });
    expect(results[1]!.call_sid).toBe(rows[1]!.call_sid);
    expect((await show('calls')).calls).toHaveLength(2);
    expect((await readUsed(id))('attempt')[3]).toBe(2);
  });

  test('with the request, where this is no list of at most 500 calls', async () => {
    const status = async (body: object) =>
      (await world.api('post', 'call_sessions/import', { body })).status;
    expect(await status({})).toBe(422);
    expect(await status({ calls: [], more: 1 })).toBe(422);
    expect(await status({ calls: [...Array(501)].map(() => row({ offer_id: '1' })) })).toBe(422);
    expect(await status({ calls: [] })).toBe(200);
    expect(time.read()).toEqual(new Date(NOW));
  });
});
