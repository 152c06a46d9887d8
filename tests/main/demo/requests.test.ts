import { createSender, type Script } from '../../../src/main/demo/requests';
import { createCompany } from '../../../src/operate/installation/create-company';
import { useWorld } from '../../support/use-world';

// The requests of assets/demo.yaml are checked like those of a client.

const world = useWorld();

async function play(script: Script): Promise<Map<unknown, string>> {
  const company = await createCompany('Demo', world.deps);
  const ids = new Map<unknown, string>();
  const db = world.deps.tenants.of(company.company_id);
  await createSender(world.deps, db, { company, ids }).play(script);
  return ids;
}

test('a request stands for the id of its record, in the path and in the fields of others', async () => {
  const offer = { name: 'Auto', user_offer_id: 'auto' };
  const schedule = { name: 'New', user_schedule_id: 'new', offer_id: offer };
  const ids = await play({
    createOffer: [offer],
    createSchedule: [schedule],
    updateOffer: [{ id: offer, name: 'Cars' }],
  });
  expect(await world.sql('SELECT id::text, name FROM offers')).toEqual([
    { id: ids.get(offer), name: 'Cars' },
  ]);
  expect(await world.sql('SELECT id::text, offer_id::text FROM schedules')).toEqual([
    { id: ids.get(schedule), offer_id: ids.get(offer) },
  ]);
});

test.each([
  ['an unknown field', { name: 'Auto', user_offer_id: 'other', pausd: true }, 'createOffer: pausd'],
  ['a value of another type', { name: 7, user_offer_id: 'other' }, 'createOffer: name'],
])('%s is refused, and named', async (_name, fields, named) => {
  await expect(play({ createOffer: [fields] })).rejects.toThrow(named);
});
