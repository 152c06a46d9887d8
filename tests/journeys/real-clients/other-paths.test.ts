import { contract, BASE_PATH } from '../../../src/platform/contract/contract';
import { answersJson } from '../../../src/api/reply/other-paths';
import { useWorld } from '../../support/use-world';

// Paths as real clients write them: `.json` at the end of any, and `/numbers`.

const world = useWorld();

const { api: send } = world;

const EXAMPLE: Record<string, string> = {
  collection: 'route_by_type',
  vanity_uri: 'nowhere',
  lead_token: 'none',
};
const answered = contract.operations.filter(answersJson);

test.each(answered.map(({ id, method, path }) => [id, method, path] as const))(
  '%s is reached by its path with .json too',
  async (_id, method, path) => {
    const stated = path
      .slice(BASE_PATH.length + 1)
      .replace(/\{(\w+)\}/g, (_, name: string) => EXAMPLE[name] ?? '999999');
    // Without credentials nothing is changed, and the answers are the same.
    const plain = await send(method, stated, { auth: null });
    const suffixed = await send(method, `${stated}.json`, { auth: null });
    expect(plain.body.code).not.toBe('unknown_path');
    expect([suffixed.status, suffixed.body.code]).toEqual([plain.status, plain.body.code]);
  },
);

test('records are created, read, changed and deleted under paths with .json', async () => {
  const created = await send('post', 'buyers.json', { body: { name: 'Ada' } });
  expect([created.status, created.body.buyer.name]).toEqual([201, 'Ada']);
  const path = `buyers/${created.body.buyer.id}.json`;
  expect((await send('get', `${path}?columns=id,name`)).body.buyer).toEqual({
    id: created.body.buyer.id,
    name: 'Ada',
  });
  expect((await send('put', path, { body: { name: 'Bob' } })).body.buyer.name).toBe('Bob');
  expect((await send('delete', path)).body.buyer.deleted_at).not.toBeNull();
  const { offer } = (await send('post', 'offers.json', { body: { name: 'Auto' } })).body;
  const lead = await send('post', 'leads.json', {
    body: { lead_token: offer.lead_token, caller_id: '+13105550188' },
  });
  expect([lead.status, lead.body.lead.offer_id]).toEqual([201, offer.id]);
});

test('what has no such path is unknown with .json too', async () => {
  const res = await send('get', 'nothing.json');
  expect([res.status, res.body.code]).toEqual([404, 'unknown_path']);
  // Carriers read XML alone.
  const twiml = await send('post', 'telephony/voice.json');
  expect(twiml.body.code).toBe('unknown_path');
  const wrong = await send('patch', 'buyers/1.json');
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, PUT, DELETE, HEAD']);
});

test('/numbers is /phone_numbers: the list, its formats, and one number', async () => {
  const [bought] = (
    await Promise.all([
      send('post', 'numbers', { body: { country: 'US' } }),
      send('post', 'numbers.json', { body: { country: 'US' } }),
    ])
  ).map(({ body }) => body.number);
  const stated = await send('get', 'phone_numbers');
  expect(stated.body.metadata.total_count).toBe(2);
  for (const path of ['numbers', 'numbers.json', 'numbers?page=1'])
    expect((await send('get', path)).body).toEqual(stated.body);
  const csv = await send('get', 'numbers.csv?columns=id');
  expect([csv.headers['content-type'], csv.text.split('\n')[0]]).toEqual([
    'text/csv; charset=utf-8',
    'id',
  ]);
  expect((await send('get', `numbers/${bought.id}.json`)).body.number).toEqual(bought);
  expect((await send('get', 'numbers/search.json?country=US&per_page=1')).status).toBe(200);
});

test('calls are narrowed by id_from and id_to, alone and together, also in CSV', async () => {
  const { offer } = (await send('post', 'offers', { body: { name: 'Home' } })).body;
  const ids: number[] = [];
  for (const callerNumber of ['+13105550141', '+13105550142', '+13105550143'])
    ids.push(
      (
        await send('post', 'call_sessions', {
          body: { offer_id: offer.id, caller_number: callerNumber },
        })
      ).body.call_session.id,
    );
  const listIds = async (query: object) => {
    const { calls, metadata } = (await send('get', 'calls.json', { query })).body;
    expect(metadata.total_count).toBe(calls.length);
    return calls.map(({ id }: { id: number }) => id);
  };
  expect(await listIds({ id_from: ids[1] })).toEqual(ids.slice(1));
  expect(await listIds({ id_to: ids[1] })).toEqual(ids.slice(0, 2));
  expect(await listIds({ id_from: ids[1], id_to: ids[1] })).toEqual([ids[1]]);
  expect(await listIds({ id_from: ids[2]! + 1 })).toEqual([]);
  const csv = await send('get', 'calls.csv', { query: { id_from: ids[2], columns: 'id' } });
  expect(csv.text).toBe(`id\n${ids[2]}\n`);
  expect((await send('get', 'calls?id_from=first')).body.errors).toHaveProperty('id_from');
});

test('contacts are ordered by each of their orders, in both directions', async () => {
  const numbers = ['+13105550163', '+13105550161', '+13105550162'];
  await send('post', 'contacts/caller_block', { body: { caller_ids: numbers } });
  const listNumbers = async (query: object) =>
    (await send('get', 'contacts', { query })).body.contacts.map(
      ({ caller_id }: { caller_id: string }) => caller_id,
    );
  const orderedNumbers = (await listNumbers({ order: 'caller_id' })).filter((number: string) =>
    numbers.includes(number),
  );
  expect(orderedNumbers).toEqual(numbers.toSorted());
  for (const order of ['id', 'caller_id', 'created_at'])
    expect(await listNumbers({ order, order_dir: 'desc' })).toEqual(
      (await listNumbers({ order, order_dir: 'asc' })).toReversed(),
    );
});
