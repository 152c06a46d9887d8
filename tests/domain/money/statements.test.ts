import { sellers } from '../../support/sellers';
import { createMember } from '../../support/teams';

// Statements of account: their lines and totals are the ledger's, and equal the reports.

const here = sellers();
const { ok, buyer, shop, time } = here;

type Fields = Record<string, unknown>;
interface Totals {
  totals: Record<'deposit' | 'payment', number>;
}
const ZONE = 'America/New_York';
const PAYS = { current_conversion_revenue: 10.55, current_conversion_duration: 60 };
const get = async (path: string) => {
  const res = await here.world.company.api('get', path);
  if (res.status !== 200) throw new Error(res.text);
  return res;
};

async function sell(offerId: number, trafficSourceId: number, n: number): Promise<number> {
  const callerNumber = `+1310555${String(n).padStart(4, '0')}`;
  const body = {
    offer_id: offerId,
    traffic_source_id: trafficSourceId,
    caller_number: callerNumber,
  };
  const { id, instruction } = (await ok('call_sessions', body)).call_session;
  const { attempt } = instruction.dial[0];
  await ok(`call_sessions/${id}/events`, { event: 'answered', attempt });
  await ok(`call_sessions/${id}/events`, { event: 'completed', duration: 60 });
  return id;
}

/** Calls of three days around midnight in New York, one of them returned and one changed. */
async function createThreeDays() {
  const id = await buyer({ ...PAYS, prepaid: true, credit_limit: 1000 });
  const { offer } = await shop([id]);
  await ok(`offers/${offer}`, { payouts: [{ payout_type: 'percentage', amount: 33 }] }, 'put');
  const source = (await ok('traffic_sources', { name: 'Ads' })).traffic_source.id as number;
  const calls: number[] = [];
  const times = [
    '2026-06-01T03:59:59Z',
    '2026-06-01T04:00:00Z',
    '2026-06-01T12:00:00Z',
    '2026-06-02T03:59:59.999Z',
    '2026-06-02T04:00:00Z',
  ];
  time.set(times[0]!);
  await ok('account_entries', { buyer_id: id, kind: 'deposit', amount: 100 });
  for (const [n, at] of times.entries()) {
    time.set(at);
    calls.push(await sell(offer, source, n));
  }
  time.set('2026-06-02T03:00:00Z');
  await ok(`calls/${calls[1]}`, { buyer_converted: false, adjustment_reason: 'bot' });
  await ok(`calls/${calls[2]}`, { revenue: 12, adjustment_reason: '=cmd' });
  await ok('account_entries', { traffic_source_id: source, kind: 'payment', amount: -5 });
  time.set('2026-06-03T12:00:00Z');
  return { id, source, calls };
}

const DAY = { from: '2026-06-01', to: '2026-06-01', time_zone: ZONE };
const drawUp = async (fields: Fields) =>
  (await ok('statements', { ...DAY, ...fields })).statement as Totals & { id: number };
const loadLines = async (id: number) =>
  (await get(`statements/${id}/lines?per_page=100`)).body.lines;

test('a statement of a local day has the entries of that day, and the balances around it', async () => {
  const { id, calls } = await createThreeDays();
  const statement = await drawUp({ buyer_id: id });
  expect(statement).toMatchObject({
    buyer_id: id,
    traffic_source_id: null,
    period_from: '2026-06-01T04:00:00.000+00:00',
    period_to: '2026-06-02T04:00:00.000+00:00',
    opening_balance: 89.45,
    closing_balance: 66.9,
    entries_count: 5,
    totals: {
      deposit: 0,
      conversion: -31.65,
      return: 10.55,
      adjustment: -1.45,
      payout: 0,
      payment: 0,
    },
  });
  expect(await loadLines(statement.id)).toMatchObject([
    { at: '2026-06-01T00:00:00.000-04:00', kind: 'conversion', balance: 78.9, call_id: calls[1] },
    { kind: 'conversion', amount: -10.55, balance: 68.35, offer: 'Auto', note: null },
    { kind: 'return', amount: 10.55, balance: 78.9, call_id: calls[1], note: 'bot' },
    { kind: 'adjustment', amount: -1.45, balance: 77.45, note: '=cmd' },
    { at: '2026-06-01T23:59:59.999-04:00', kind: 'conversion', balance: 66.9 },
  ]);
});

test("the totals of buyer and source equal what the reports say of the day's calls", async () => {
  const { id, source } = await createThreeDays();
  const [ofBuyer, ofSource] = [
    await drawUp({ buyer_id: id }),
    await drawUp({ traffic_source_id: source }),
  ];
  const days = `created_at_from=2026-06-01&created_at_to=2026-06-01T23:59:59.999&time_zone=${ZONE}`;
  const { calls } = (await get(`calls?${days}&per_page=100`)).body;
  const cents = (all: number[]) => Math.round(all.reduce((sum, amount) => sum + amount, 0) * 100);
  const totals = ({ totals: { deposit: _deposit, payment: _payment, ...callTotals } }: Totals) =>
    cents(Object.values(callTotals));
  expect(-totals(ofBuyer)).toBe(cents(calls.map(({ revenue }: Fields) => revenue)));
  expect(totals(ofSource)).toBe(cents(calls.map(({ payout }: Fields) => payout)));
  expect(ofSource.totals).toMatchObject({ payment: -5 });
});

test('pages and CSV have the same lines, and no spreadsheet runs a note', async () => {
  const { id } = await createThreeDays();
  const statement = await drawUp({ buyer_id: id });
  const whole = await loadLines(statement.id);
  const first = (await get(`statements/${statement.id}/lines?per_page=2`)).body;
  const second = (
    await get(`statements/${statement.id}/lines?per_page=3&cursor=${first.metadata.next_cursor}`)
  ).body;
  expect([...first.lines, ...second.lines]).toEqual(whole);
  expect(second.metadata).toMatchObject({ next_cursor: 0, total_count: 5 });
  const csv = (await get(`statements/${statement.id}/lines?format=csv`)).text.trim().split('\n');
  expect(csv[0]).toBe('id,at,kind,amount,balance,call_id,call_uuid,offer,note');
  expect(csv).toHaveLength(6);
  expect(csv[4]).toContain(',adjustment,-1.45,77.45,');
  expect(csv[4]).toContain("'=cmd");
});

test.each([
  [{ from: '2026-06-02T00:00', to: '2026-06-02T00:00' }, 'to'],
  [{ from: '2026-06-02', to: '2026-06-01' }, 'to'],
  [{ to: '2026-06-03T12:00:01Z' }, 'to'],
  [{ to: '2026-06-03T11:59:30Z' }, 'to'],
  [{ from: undefined }, 'from'],
  [{ time_zone: 'Mars' }, 'time_zone'],
  [{ buyer_id: undefined }, 'buyer_id'],
])('%j is refused', async (fields: Fields, field) => {
  const id = await buyer();
  time.set('2026-06-03T12:00:00Z');
  const body = { buyer_id: id, ...DAY, ...fields };
  const res = await here.world.company.api('post', 'statements', { body });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
});

test("a publisher's and a buyer's login see the own account alone", async () => {
  const { id, source } = await createThreeDays();
  const otherBuyer = await buyer({ prepaid: true });
  await ok('account_entries', { buyer_id: otherBuyer, kind: 'deposit', amount: 1 });
  const ofBuyer = await drawUp({ buyer_id: id });
  const ofSource = await drawUp({ traffic_source_id: source });
  const permissions = ['account_entries:read', 'statements:read', 'buyers:read', 'calls:read'];
  const loadVisible = async (fields: Fields) => {
    const email = `${Object.keys(fields)[0]}@example.com`;
    const { api } = await createMember(here.world.company, email, { permissions, ...fields });
    const [entries, drawn] = await Promise.all([
      api('get', 'account_entries?per_page=100'),
      api('get', 'statements'),
    ]);
    const of = (all: Fields[]) => [
      ...new Set(all.map(({ buyer_id, traffic_source_id }) => `${buyer_id}/${traffic_source_id}`)),
    ];
    const hidden = fields.buyer_ids ? ofSource : ofBuyer;
    return {
      entries: of(entries.body.account_entries),
      statements: of(drawn.body.statements),
      hidden: (await api('get', `statements/${hidden.id}/lines`)).status,
    };
  };
  expect(await loadVisible({ buyer_ids: [id] })).toEqual({
    entries: [`${id}/null`],
    statements: [`${id}/null`],
    hidden: 404,
  });
  expect(await loadVisible({ traffic_source_ids: [source] })).toEqual({
    entries: [`null/${source}`],
    statements: [`null/${source}`],
    hidden: 404,
  });
});
