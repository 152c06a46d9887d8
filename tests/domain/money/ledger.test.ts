import { repetitions } from '../../support/repetitions';
import { sellers } from '../../support/sellers';

// The ledger: the balance of an account is what its entries sum up to, at every instant.

const here = sellers();
const { ok, buyer, shop } = here;

type Fields = Record<string, unknown>;
const WRITERS = repetitions(60, 200);
const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 60 };

/** The balance and the sum of the entries, read in one statement. */
const READ = `
  SELECT l.balance::float8 AS balance,
    (SELECT coalesce(sum(e.amount), 0) FROM account_entries e WHERE e.buyer_id = l.buyer_id)::float8
      AS sum
  FROM call_limits l WHERE l.buyer_id = $1`;
const read = async (id: number) =>
  (await here.world.sql<{ balance: number; sum: number }>(READ, [id]))[0]!;

const createSource = async () =>
  (await ok('traffic_sources', { name: 'Ads' })).traffic_source.id as number;

async function createCall(offerId: number, trafficSourceId: number, n: number): Promise<number> {
  const callerNumber = `+1310555${String(n).padStart(4, '0')}`;
  const body = {
    offer_id: offerId,
    traffic_source_id: trafficSourceId,
    caller_number: callerNumber,
  };
  const { id, instruction } = (await ok('call_sessions', body)).call_session;
  const { attempt } = instruction.dial[0];
  await ok(`call_sessions/${id}/events`, { event: 'answered', attempt });
  return id;
}
const complete = (id: number) =>
  ok(`call_sessions/${id}/events`, { event: 'completed', duration: 60 });

test(`the entries sum up to the balance while ${WRITERS} writers enter at once`, async () => {
  const id = await buyer({ ...PAYS, prepaid: true, credit_limit: 100_000 });
  const { offer } = await shop([id]);
  await ok(`offers/${offer}`, { payouts: [{ payout_type: 'percentage', amount: 33 }] }, 'put');
  const source = await createSource();
  const ids: number[] = [];
  for (let n = 0; n < WRITERS / 2; n += 10)
    ids.push(
      ...(await Promise.all(
        Array.from({ length: 10 }, (_, k) => createCall(offer, source, n + k)),
      )),
    );
  const balances: { balance: number; sum: number }[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) balances.push(await read(id));
  })();
  const entering = [
    ...ids.map(async (call, n) => {
      await complete(call);
      if (n % 3 === 1)
        await ok(`calls/${call}`, { buyer_converted: false, adjustment_reason: 'bad' });
      if (n % 3 === 2) await ok(`calls/${call}`, { revenue: 12.34, adjustment_reason: 'more' });
    }),
    ...Array.from({ length: WRITERS / 2 }, (_, n) =>
      ok('account_entries', {
        buyer_id: id,
        kind: n % 2 ? 'deposit' : 'adjustment',
        amount: n % 2 ? 10.01 : -3.5,
      }),
    ),
  ];
  await Promise.all(entering);
  isOver = true;
  await watching;
  expect(balances.filter(({ balance, sum }) => balance !== sum)).toEqual([]);
  expect(balances.length).toBeGreaterThan(1);
  const counts = [0, 1, 2].map((rest) => ids.filter((_, n) => n % 3 === rest).length);
  const cents = (WRITERS / 4) * (1001 - 350) - counts[0]! * 1000 - counts[2]! * 1234;
  expect(await read(id)).toEqual({ balance: cents / 100, sum: cents / 100 });
  const paid = await here.world.sql<{ sum: number; payouts: number }>(
    `SELECT
      (SELECT sum(amount) FROM account_entries WHERE traffic_source_id = $1)::float8 AS sum,
      (SELECT sum(payout) FROM calls WHERE traffic_source_id = $1)::float8 AS payouts`,
    [source],
  );
  expect(paid[0]!.sum).toBe(paid[0]!.payouts);
});

const OF_SOURCE = { columns: 'id,earned_total,paid_total,account_balance' };

test('totals of accounts are read where they are named, also of a buyer who pays later', async () => {
  const id = await buyer(PAYS);
  const { offer } = await shop([id]);
  await ok(`offers/${offer}`, { payouts: [{ payout_type: 'fixed', amount: 4 }] }, 'put');
  const source = await createSource();
  await complete(await createCall(offer, source, 1));
  await ok('account_entries', { buyer_id: id, kind: 'deposit', amount: 500 });
  await ok('account_entries', { buyer_id: id, kind: 'adjustment', amount: 1 });
  await ok('account_entries', { traffic_source_id: source, kind: 'payment', amount: -1.5 });
  const show = async (path: string, query: object) =>
    (await here.world.company.api('get', path, { query })).body;
  const columns = 'id,billed_total,paid_total,account_balance';
  expect((await show('buyers', { columns })).buyers).toEqual([
    { id, billed_total: 9, paid_total: 500, account_balance: 491 },
  ]);
  expect((await show(`traffic_sources/${source}`, OF_SOURCE)).traffic_source).toEqual({
    id: source,
    earned_total: 4,
    paid_total: 1.5,
    account_balance: 2.5,
  });
  for (const serializer of ['buyer', 'buyer_grid'])
    expect((await show(`buyers/${id}`, { serializer })).buyer).not.toHaveProperty('billed_total');
});

describe('an entry that does not fit is refused, and enters nothing', () => {
  const entry = (body: Fields) => here.world.company.api('post', 'account_entries', { body });
  test.each([
    [{ kind: 'deposit', amount: 5 }, 'buyer_id'],
    [{ kind: 'deposit', amount: -5, of: 'buyer' }, 'amount'],
    [{ kind: 'deposit', amount: 5, of: 'source' }, 'kind'],
    [{ kind: 'payment', amount: -5, of: 'buyer' }, 'kind'],
    [{ kind: 'payment', amount: 5, of: 'source' }, 'amount'],
    [{ kind: 'adjustment', amount: 0, of: 'buyer' }, 'amount'],
    [{ kind: 'conversion', amount: -5, of: 'buyer' }, 'kind'],
    [{ kind: 'deposit', amount: 5.001, of: 'buyer' }, 'amount'],
    [{ kind: 'deposit', amount: 5, of: 'both' }, 'traffic_source_id'],
  ])('%j names %s', async ({ of, ...fields }: Fields, field) => {
    const account = {
      ...(of === 'buyer' || of === 'both' ? { buyer_id: await buyer({ prepaid: true }) } : {}),
      ...(of === 'source' || of === 'both' ? { traffic_source_id: await createSource() } : {}),
    };
    const res = await entry({ ...account, ...fields });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
    const { account_entries } = (await here.world.company.api('get', 'account_entries')).body;
    expect(account_entries).toEqual([]);
  });
});

test('an entry is shown with its checksum, and the same request twice is one entry', async () => {
  const id = await buyer({ prepaid: true });
  const body = { buyer_id: id, kind: 'deposit', amount: 25.5, note: 'wire' };
  const send = () =>
    here.world.company.api('post', 'account_entries', {
      body,
      headers: { 'Idempotency-Key': 'one' },
    });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.body.account_entry.id]).toEqual([201, first.body.account_entry.id]);
  const shown = await here.world.company.api(
    'get',
    `account_entries/${first.body.account_entry.id}`,
  );
  expect(shown.body.account_entry).toMatchObject({ ...body, buyer_id: id, call_id: null });
  expect(shown.headers.etag).toBe(`"${first.body.checksum}"`);
  expect(await read(id)).toEqual({ balance: 25.5, sum: 25.5 });
});
