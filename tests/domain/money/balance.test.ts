import { repetitions } from '../../support/repetitions';
import { sellers } from '../../support/sellers';

// Prepaid buyers: what their calls may cost never exceeds what they have paid in and their credit.

const here = sellers();
const { ok, buyer, shop, ping, post } = here;

type Fields = Record<string, unknown>;
const PRICE = 10;
const PAID_FOR = repetitions(15, 50);
const CALLS = 4 * PAID_FOR;
/** A buyer that pays $10 for a minute. */
const PAYS = { current_conversion_revenue: PRICE, current_conversion_duration: 60 };

const deposit = (buyerId: number, amount: number) =>
  ok('account_entries', { buyer_id: buyerId, kind: amount > 0 ? 'deposit' : 'adjustment', amount });
const shown = async (id: number) =>
  (await here.world.company.api('get', `buyers/${id}`)).body.buyer as Fields;
const loadAccount = async (id: number) => {
  const { prepaid, balance, reserved_balance, maxed_out_by } = await shown(id);
  return { prepaid, balance, reserved_balance, maxed_out_by };
};
const sumLedger = async (id: number) =>
  (
    await here.world.sql<{ sum: number }>(
      'SELECT coalesce(sum(amount), 0)::float8 AS sum FROM account_entries WHERE buyer_id = $1',
      [id],
    )
  )[0]!.sum;

async function prepaid(amount: number, fields: Fields = {}): Promise<number> {
  const id = await buyer({ ...PAYS, prepaid: true, ...fields });
  if (amount > 0) await deposit(id, amount);
  return id;
}

interface Session {
  id: number;
  instruction: { action: string; dial: { attempt: string }[] };
}

const begin = async (offerId: number, n = 0, headers: Record<string, string> = {}) => {
  const callerNumber = `+1310555${String(n).padStart(4, '0')}`;
  const body = { offer_id: offerId, caller_number: callerNumber };
  const res = await here.world.company.api('post', 'call_sessions', { body, headers });
  if (res.status !== 201) throw new Error(res.text);
  return res.body.call_session as Session;
};
const report = (id: number, event: string, fields: Fields = {}) =>
  ok(`call_sessions/${id}/events`, { event, ...fields });
async function talk({ id, instruction }: Session): Promise<void> {
  const { attempt } = instruction.dial[0]!;
  await report(id, 'answered', { attempt });
  await report(id, 'completed', { duration: 60 });
}
const loadReasons = async ({ id }: Session) => {
  const { decisions } = (await here.world.company.api('get', `calls/${id}/decision`)).body;
  return decisions.at(-1).candidates.map(({ reason }: { reason: string }) => reason);
};

test.each([
  ['a balance', PAID_FOR * PRICE, 0],
  ['credit', 0, PAID_FOR * PRICE],
  ['both, and some cents that pay for nothing', 100.99, PAID_FOR * PRICE - 100],
])(
  `of ${CALLS} calls at once, ${PAID_FOR} connect that are paid for by %s`,
  async (_, balance, creditLimit) => {
    const id = await prepaid(balance, { credit_limit: creditLimit });
    const { offer } = await shop([id]);
    const sessions = await Promise.all(
      Array.from({ length: CALLS }, (_, n) =>
        begin(offer, n, n % 5 === 0 ? { 'Idempotency-Key': `call-${n}` } : {}),
      ),
    );
    const dialed = sessions.filter(({ instruction }) => instruction.action === 'dial');
    expect(dialed).toHaveLength(PAID_FOR);
    expect(await loadAccount(id)).toMatchObject({ balance, reserved_balance: PAID_FOR * PRICE });
    const refused = sessions.find(({ instruction }) => instruction.action !== 'dial')!;
    expect(await loadReasons(refused)).toEqual(['out_of_balance']);
    await Promise.all(dialed.map(talk));
    const left = Math.round((balance - PAID_FOR * PRICE) * 100) / 100;
    expect(await loadAccount(id)).toMatchObject({ balance: left, reserved_balance: 0 });
    expect(await sumLedger(id)).toBe(left);
  },
);

test('an explanation says what is available and what calls under way may cost', async () => {
  const id = await prepaid(15);
  const { offer } = await shop([id]);
  await begin(offer);
  const { decision } = await ok('routing/explain', {
    offer_id: offer,
    caller_number: '+13105550199',
  });
  expect(decision.candidates).toMatchObject([
    { buyer_id: id, reason: 'out_of_balance', details: { available: 15, reserved: 10 } },
  ]);
});

test('a call that ends unpaid gives back what it reserved, and a return what it cost', async () => {
  const id = await prepaid(PRICE);
  const { offer } = await shop([id]);
  const first = await begin(offer, 1);
  expect((await begin(offer, 2)).instruction.action).not.toBe('dial');
  await report(first.id, 'no_answer', { attempt: first.instruction.dial[0]!.attempt });
  const second = await begin(offer, 3);
  await talk(second);
  expect(await loadAccount(id)).toMatchObject({ balance: 0, maxed_out_by: 'balance' });
  await ok(`calls/${second.id}`, { buyer_converted: false, adjustment_reason: 'bot' });
  expect(await loadAccount(id)).toMatchObject({ balance: PRICE, maxed_out_by: null });
  expect((await begin(offer, 4)).instruction.action).toBe('dial');
  const { account_entries } = (
    await here.world.company.api('get', `account_entries?buyer_id=${id}&order=created_at`)
  ).body;
  expect(
    account_entries
      .toSorted((a: { id: number }, b: { id: number }) => a.id - b.id)
      .map(({ kind, amount, note }: Fields) => [kind, amount, note]),
  ).toEqual([
    ['deposit', PRICE, null],
    ['conversion', -PRICE, null],
    ['return', PRICE, 'bot'],
  ]);
});

test('a ping gets no answer of a buyer that cannot pay, and a post reserves its price', async () => {
  const id = await prepaid(PRICE);
  const newShop = await shop([id]);
  await here.buyNumber(newShop);
  const pingReply = await ping(newShop);
  await post(newShop, { ping_id: pingReply.ping_id, caller_id: '+13105550188' });
  expect(await loadAccount(id)).toMatchObject({ balance: PRICE, reserved_balance: PRICE });
  expect(await ping(newShop, { caller_id: '+13105550177' })).not.toMatchObject({
    status: 'success',
  });
});

test('a buyer that becomes prepaid has the sum of its entries, whatever is entered meanwhile', async () => {
  const id = await buyer(PAYS);
  const { offer } = await shop([id]);
  await talk(await begin(offer, 1));
  expect(await loadAccount(id)).toMatchObject({ prepaid: false, balance: null });
  const sessions = await Promise.all(Array.from({ length: 20 }, (_, n) => begin(offer, n + 2)));
  await Promise.all([
    ...sessions.map(talk),
    ...Array.from({ length: 10 }, () => deposit(id, 7)),
    ok(`buyers/${id}`, { prepaid: true, credit_limit: 100 }, 'put'),
  ]);
  const expected = 10 * 7 - 21 * PRICE;
  expect(await loadAccount(id)).toMatchObject({ prepaid: true, balance: expected });
  expect(await sumLedger(id)).toBe(expected);
  await ok(`buyers/${id}`, { prepaid: false }, 'put');
  await deposit(id, 1);
  await ok(`buyers/${id}`, { prepaid: true }, 'put');
  expect(await loadAccount(id)).toMatchObject({ balance: expected + 1 });
});
