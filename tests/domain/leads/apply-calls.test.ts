import { applyCalls } from '../../../src/domain/leads/apply-calls';
import { createWorld, type World } from '../../support/world';

let world: World;
let offer: number;
let buyer: number;
let lead: number;
const CALLER = '+13105550123';

beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  world.company = await world.addCompany();
  buyer = await createRecord('buyers', { number: '+12125550101' });
  offer = await createRecord('offers', { name: 'Auto', buyer_ids: [buyer] });
  lead = (
    await world.company.api('post', 'leads/capture', {
      body: { caller_id: CALLER, offer_id: offer },
    })
  ).body.lead_id;
});
afterAll(() => world.close());

async function createRecord(path: string, body: object): Promise<number> {
  const res = await world.company.api('post', path, { body });
  return res.body[res.body.metadata.root].id;
}
const call = async () =>
  (
    await world.company.api('post', 'call_sessions', {
      body: { offer_id: offer, caller_number: CALLER },
    })
  ).body.call_session.id as number;
const report = (id: number, event: string) =>
  world.company.api('post', `call_sessions/${id}/events`, { body: { event } });
const apply = () => applyCalls(world.deps.database.pool, new Date());
const loadLeadCalls = async () => {
  const { attempted_call_id, connected_call_id, buyer_id } = (
    await world.company.api('get', `leads/${lead}`)
  ).body.lead;
  return [attempted_call_id, connected_call_id, buyer_id];
};
const listMessages = async () =>
  (
    await world.company.api('get', 'lead_logs', { query: { lead_id: lead, event: 'call_changed' } })
  ).body.lead_logs.map(({ message }: { message: string }) => message);

describe('calls are applied to their lead', () => {
  test(
    'the last attempted and the last connected one, and the buyer; once, by any ' +
      'number of processes',
    async () => {
      const first = await call();
      await Promise.all([apply(), apply(), apply(), apply()]);
      expect(await loadLeadCalls()).toEqual([first, null, buyer]);
      await report(first, 'no_answer');
      const second = await call();
      await report(second, 'answered');
      await Promise.all([apply(), apply()]);
      await report(second, 'completed');
      await apply();
      expect(await loadLeadCalls()).toEqual([second, second, buyer]);
      expect(await listMessages()).toEqual([
        'came in: a buyer is called',
        'came in: connected to a buyer',
      ]);
    },
  );

  test('afterwards while it is locked, and calls do not wait for it', async () => {
    const client = await world.deps.database.pool.connect();
    let id: number;
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM leads WHERE company_id = $1 AND id = $2 FOR NO KEY UPDATE', [
        world.company.id,
        lead,
      ]);
      id = await call();
      await report(id, 'answered');
      await apply();
      expect(
        await world.sql('SELECT call_id::int FROM lead_calls WHERE company_id = $1', [
          world.company.id,
        ]),
      ).toEqual([{ call_id: id }]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    await apply();
    expect(await loadLeadCalls()).toEqual([id, id, buyer]);
    expect(
      await world.sql('SELECT FROM lead_calls WHERE company_id = $1', [world.company.id]),
    ).toEqual([]);
  });

  test('also what happens while they are being applied', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await call();
      await Promise.all([report(id, 'answered'), apply(), apply()]);
      await apply();
      expect((await loadLeadCalls())[1]).toBe(id);
      await report(id, 'completed');
    }
  });
});
