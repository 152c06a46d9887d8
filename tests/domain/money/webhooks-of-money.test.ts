import { useWorld } from '../../support/use-world';

// Webhooks of money: each low balance and each statement is sent once, to the owner of the account.

const here = useWorld({ receiver: true, webhooks: true });

type Fields = Record<string, unknown>;
const PRICE = 10;

const buyer = async (fields: Fields = {}): Promise<number> => {
  const body = { name: 'Bayline', number: '+12125550100', prepaid: true, ...fields };
  return (await here.ok('post', 'buyers', body)).buyer.id;
};
const enter = (account: Fields, kind: string, amount: number) =>
  here.ok('post', 'account_entries', { ...account, kind, amount });

test('a balance that falls below its limit is told once, and again when it has risen', async () => {
  const id = await buyer({
    balance_low_limit: 25,
    current_conversion_revenue: PRICE,
    current_conversion_duration: 60,
  });
  const [all, ownHook, otherHook] = [
    await here.hook('balance_low'),
    await here.hook('balance_low', { owner_type: 'Buyer', owner_id: id }),
    await here.hook('balance_low', { owner_type: 'Buyer', owner_id: await buyer() }),
  ];
  await enter({ buyer_id: id }, 'deposit', 60);
  const { offer } = await here.ok('post', 'offers', { name: 'Auto', buyer_ids: [id] });
  const talk = async () => {
    const { call_session: session } = await here.ok('post', 'call_sessions', {
      offer_id: offer.id,
      caller_number: here.nextNumber('+1310556'),
    });
    const attempt = session.instruction.dial[0].attempt;
    const events = `call_sessions/${session.id}/events`;
    await here.ok('post', events, { event: 'answered', attempt });
    await here.ok('post', events, { event: 'completed', duration: 60 });
  };
  // From 60 to 10 dollars: one of the calls crosses 25, whichever is last.
  await Promise.all(Array.from({ length: 5 }, talk));
  const data = {
    buyer: { id, name: 'Bayline' },
    account: { buyer_id: id, balance: 20, credit_limit: 0, balance_low_limit: 25 },
  };
  expect(await all.payloads(1)).toMatchObject([{ type: 'balance_low', data }]);
  await enter({ buyer_id: id }, 'deposit', 100);
  await enter({ buyer_id: id }, 'adjustment', -90);
  expect(await all.payloads(2)).toMatchObject([{ data }, { data }]);
  expect(await ownHook.payloads(2)).toMatchObject([{ data }, { data }]);
  expect(otherHook.got()).toEqual([]);
});

test('a statement is told to the owner of its account alone', async () => {
  const id = await buyer();
  const { traffic_source: source } = await here.ok('post', 'traffic_sources', { name: 'Ads' });
  const hooks = {
    all: await here.hook('statement_ready'),
    buyer: await here.hook('statement_ready', { owner_type: 'Buyer', owner_id: id }),
    source: await here.hook('statement_ready', {
      owner_type: 'TrafficSource',
      owner_id: source.id,
    }),
  };
  const since = new Date(Date.now() - 3_600_000);
  const ended = new Date(Date.now() - 120_000);
  await enter({ buyer_id: id }, 'deposit', 70);
  await enter({ traffic_source_id: source.id }, 'adjustment', 7);
  // The entries were made before the end of the period.
  await here.sql('UPDATE account_entries SET created_at = $1 WHERE company_id = $2', [
    new Date(since.getTime() + 60_000),
    here.company.id,
  ]);
  const period = { from: since.toISOString(), to: ended.toISOString() };
  await here.ok('post', 'statements', { buyer_id: id, ...period });
  await here.ok('post', 'statements', { traffic_source_id: source.id, ...period });
  const ofBuyer = { data: { statement: { buyer_id: id, closing_balance: 70 } } };
  const ofSource = { data: { statement: { traffic_source_id: source.id, closing_balance: 7 } } };
  expect(await hooks.all.payloads(2)).toMatchObject([ofBuyer, ofSource]);
  expect(await hooks.buyer.payloads(1)).toMatchObject([ofBuyer]);
  expect(await hooks.source.payloads(1)).toMatchObject([ofSource]);
  expect([hooks.buyer.got(), hooks.source.got()].map(({ length }) => length)).toEqual([1, 1]);
});
