import { standingClock } from '../support/clock';
import { NOON, openShop, runEngine, submit } from '../support/leads';
import { createWorld, type World } from '../support/world';

let world: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());

test('smoke', async () => {
  const shop = await openShop(world, [
    { action_type: 'sms', body: 'Hi {{first_name}}' },
    { action_type: 'wait', wait_amount: 1, wait_unit: 'hours' },
    { action_type: 'dial', connect_to: '+13105550199' },
  ]);
  const res = await submit(world, shop.schedule.lead_token, { first_name: 'Ann' });
  console.log(res.status, JSON.stringify(res.body, null, 1));
  console.log(await runEngine(world));
  console.log(JSON.stringify((await world.company.api('get', 'text_messages')).body.text_messages));
  console.log(JSON.stringify((await world.company.api('get', `leads/${res.body.id}/timeline`)).body, null, 1));
  console.log(JSON.stringify((await world.company.api('get', `leads/${res.body.id}`)).body.lead));
});
