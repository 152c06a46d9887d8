import { applyCalls } from '../../../src/domain/leads/apply-calls';
import { useWorld } from '../../support/use-world';

const world = useWorld({ fresh: 'company' });
const { api, ok, create, createRecords } = world;
let offer: number;
let buyer: number;
let lead: number;
const CALLER = '+13105550123';

beforeEach(async () => {
  ({ buyer, offer } = await createRecords({
    buyers: { buyer: {} },
    offers: { offer: { buyer_ids: ['buyer'] } },
  }));
  lead = await create('leads/capture', { caller_id: CALLER, offer_id: offer });
});

const call = () => create('call_sessions', { offer_id: offer, caller_number: CALLER });
const report = (id: number, event: string) =>
  api('post', `call_sessions/${id}/events`, { body: { event } });
const apply = () => applyCalls(world.deps.database.pool, new Date());
const loadLeadCalls = async () => {
  const { attempted_call_id, connected_call_id, buyer_id } = (await ok('get', `leads/${lead}`))
    .lead;
  return [attempted_call_id, connected_call_id, buyer_id];
};
const listMessages = async () =>
  (await ok('get', `lead_logs?lead_id=${lead}&event=call_changed`)).lead_logs.map(
    ({ message }: { message: string }) => message,
  );

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
