import { startHousekeeping } from '../../../src/main/background/start';
import { startOutreach } from '../../../src/main/background/start';
import { eventually } from '../../support/engine-process';
import { loadLeadRow, openShop, submit, wait } from '../../support/leads';
import { useWorld } from '../../support/use-world';

const world = useWorld();
const { api } = world;

test('the loops of a server call a lead in the sandbox, sell the call and go on', async () => {
  const { schedule, offer } = await openShop(world, [{ action_type: 'dial' }, wait(1)], {
    daylight_hours: '00:00..23:59',
  });
  for (const [tier, number] of ['+12125550106', '+12125550122'].entries())
    await api('post', 'buyers', {
      body: { name: number, number, tier, press_one_to_accept: true },
    });
  const buyers = (await api('get', 'buyers')).body.buyers as { id: number }[];
  await api('put', `offers/${offer.id}`, {
    body: { buyer_ids: buyers.map(({ id }) => id) },
  });
  await world.work();
  const loops = [startOutreach(world.deps), startHousekeeping(world.deps)];
  const lead = (await submit(world, schedule.lead_token)).body.id as number;
  const call = async () =>
    (await api('get', `calls?lead_id=${lead}`)).body.calls[0] as
      Record<string, unknown> | undefined;
  await eventually(async () => (await call())?.status === 'completed');
  expect(await call()).toMatchObject({
    answered_by: 'human',
    connected_to: '+12125550122',
    attempts_count: 2,
    answered_duration: 120,
  });
  await eventually(async () => (await loadLeadRow(world, lead)).status === 'scheduled');
  for (const loop of loops) await loop.stop();
});
