import { erasePerson } from '../../../src/operate/privacy/erase-person';
import { EMAIL, NOON, openShop, runEngine, SMS, submit, type Shop } from '../../support/leads';
import { useWorld } from '../../support/use-world';

// After a person was erased, no table of the database has the number, the address or the name, but
// for what keeps the person from being contacted.

const NUMBER = '13105550188';
const OTHER = '13105550189';
const PERSON = { email: 'frieda.quux@example.com', first_name: 'Friedaquux', zip: '90210' };

const world = useWorld({ clock: NOON });
const { api, create, clock: time } = world;
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(world, [SMS, EMAIL]);
  const buyer = await create('buyers', { name: 'Buyer', number: '+12135550111' });
  await api('put', `offers/${shop.offer.id}`, { body: { buyer_ids: [buyer] } });
  for (const triggerType of ['lead_created', 'call_ended'])
    await api('post', 'outgoing_webhooks', {
      body: { name: triggerType, trigger_type: triggerType, url: 'https://hooks.example/' },
    });
});

/** A lead of the number, which is contacted, and which then calls a buyer. */
async function createHistory(number: string): Promise<void> {
  await submit(world, shop.schedule.lead_token, { caller_id: number, ...PERSON });
  await runEngine(world);
  const { body } = await api('post', 'call_sessions', {
    body: {
      offer_id: shop.offer.id,
      caller_number: `+${number}`,
      number_called: '+12125550100',
      tokens: { first_name: PERSON.first_name },
    },
  });
  const { uuid } = body.call_session;
  await complete(uuid);
  // A bidder was asked about the caller.
  await world.sql(
    `INSERT INTO bids (
      company_id, caller_number, offer_id, buyer_id, created_at, amount, duration, expires_at
    )
    SELECT company_id, $1, $2, id, now(), 9, 30, now()
    FROM buyers`,
    [number, shop.offer.id],
  );
}

const complete = (uuid: string) =>
  api('post', `call_sessions/${uuid}/events`, {
    body: { event: 'completed' },
  });

async function listTablesWith(text: string): Promise<string[]> {
  const tables = await world.sql<{ name: string }>(
    `SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const queries = tables.map(
    ({ name }) => `SELECT '${name}' AS name WHERE EXISTS (
      SELECT FROM ${name} t WHERE t::text ILIKE '%${text}%')`,
  );
  const matches = await world.sql<{ name: string }>(queries.join(' UNION ALL '));
  return matches.map(({ name }) => name).toSorted();
}

const erase = (number = NUMBER) =>
  erasePerson(world.deps.tenants, world.company.id, { number, now: time.read() });

const total = async (path: string) =>
  (await api('get', path, { query: { per_page: 1 } })).body.metadata.total_count;

test('nothing is left of the person, and everything of others', async () => {
  await createHistory(NUMBER);
  const before = await listTablesWith(NUMBER.slice(1));
  expect(before).toEqual(
    expect.arrayContaining(['bids', 'calls', 'leads', 'text_messages', 'contacts']),
  );
  const receipt = await erase();
  expect(Object.keys(receipt.erased)).toEqual(
    expect.arrayContaining(['bids', 'leads', 'calls', 'text_messages', 'emails', 'contacts']),
  );
  expect(receipt).toMatchObject({ number: `+${NUMBER}`, kept: {} });
  for (const text of [NUMBER.slice(1), PERSON.email, PERSON.first_name])
    expect([text, await listTablesWith(text)]).toEqual([text, []]);

  await createHistory(OTHER);
  await erase();
  expect(await listTablesWith(OTHER.slice(1))).toEqual(before);
});

test('counts stay exact, and calls remain in reports', async () => {
  const tables = { leads: 'leads', contacts: 'contacts', text_messages: 'text_messages' };
  for (const [path, table] of Object.entries(tables)) {
    const [row] = await world.sql<{ n: string }>(
      `SELECT count(*) AS n FROM ${table} WHERE company_id = $1 AND deleted_at IS NULL`,
      [world.company.id],
    );
    expect([path, await total(path)]).toEqual([path, Number(row!.n)]);
  }
  const [calls] = await world.sql<{ n: string }>('SELECT count(*) AS n FROM calls');
  expect(await total('calls')).toBe(Number(calls!.n));
  const { body } = await api('get', 'calls', { query: { per_page: 100 } });
  expect(body.calls.some((call: { caller_number: unknown }) => call.caller_number === null)).toBe(
    true,
  );
});

test('what keeps the person from being contacted stays, and is named', async () => {
  const list = await api('post', 'buyer_suppressions', { body: { name: 'Do not call' } });
  const { id } = list.body.buyer_suppression;
  await api('post', `buyer_suppressions/${id}/caller_block`, {
    body: { caller_ids: [`+${NUMBER}`] },
  });
  await createHistory(NUMBER);
  await api('post', 'contacts/caller_block', { body: { caller_ids: [`+${NUMBER}`] } });
  const receipt = await erase();
  expect(receipt.kept).toEqual({ buyer_suppression_numbers: 1, contacts: 1 });
});

test('a person who is in a call is not erased', async () => {
  const { body } = await api('post', 'call_sessions', {
    body: { offer_id: shop.offer.id, caller_number: `+${OTHER}` },
  });
  await expect(erase(OTHER)).rejects.toThrow(`+${OTHER} is in a call now`);
  await complete(body.call_session.uuid);
  await erase(OTHER);
});
