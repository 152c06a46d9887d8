import { twoServers } from '../../support/two-servers';

// Trunks over two server processes.

const here = twoServers();
const { create, send } = here;

type Fields = Record<string, unknown>;
interface Session {
  id: number;
  instruction: { action: string; dial: { trunk: { name: string } | null }[] };
}

beforeEach(async () => void (here.world.company = await here.world.addCompany()));

const post = async (n: number, path: string, body: Fields): Promise<Session> => {
  const res = await send(n % 2, 'POST', path, body);
  const text = await res.text();
  if (res.status >= 300) throw new Error(text);
  return (JSON.parse(text) as { call_session: Session }).call_session;
};
const callAll = (offerId: number, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      post(n, 'call_sessions', { offer_id: offerId, switch: 'edge', call_sid: `call-${n}` }),
    ),
  );
const addOffer = async () => {
  await create('switches', { name: 'edge' });
  const buyers = [
    await create('buyers', { number: '+12125550101' }),
    await create('buyers', { number: '+12125550102' }),
  ];
  return create('offers', { name: 'Auto', buyer_ids: buyers });
};
const countByTrunk = (calls: readonly Session[]) => {
  const counts: Record<string, number> = {};
  for (const { instruction } of calls) {
    const name = instruction.dial[0]?.trunk?.name ?? instruction.action;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

test('two trunks of 7 and 5 calls take exactly 12 of 60 at once', async () => {
  const offer = await addOffer();
  await create('trunks', { name: 'seven', host: 'a.example', max_calls: 7 });
  await create('trunks', { name: 'five', host: 'b.example', position: 1, max_calls: 5 });
  expect(countByTrunk(await callAll(offer, 60))).toEqual({ seven: 7, five: 5, hang_up: 48 });
});

test('calls whose trunk fails at once take exactly the room of the next one, once each', async () => {
  const offer = await addOffer();
  await create('trunks', { name: 'first', host: 'a.example' });
  await create('trunks', { name: 'second', host: 'b.example', position: 1, max_calls: 6 });
  const calls = await callAll(offer, 20);
  // Each report comes twice, by both processes.
  const answers = await Promise.all(
    calls.flatMap(({ id }) =>
      [0, 1].map((n) =>
        post(n, `call_sessions/${id}/events`, { event: 'failed', trunk: 'first', sip_code: 503 }),
      ),
    ),
  );
  const [counted] = await here.world.sql<Record<'ringing' | 'faults', number>>(
    `SELECT
      (SELECT count(*)::int FROM call_attempts a
        WHERE a.company_id = $1 AND a.status = 'ringing' AND a.trunk_id IS NOT NULL) AS ringing,
      (SELECT faults FROM trunks t WHERE t.company_id = $1 AND t.name = 'first') AS faults`,
    [here.world.company.id],
  );
  expect(counted).toEqual({ ringing: 6, faults: 20 });
  expect(countByTrunk(answers)).toEqual({ second: 12, hang_up: 28 });
});
