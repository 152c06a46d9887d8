import { useWorld } from '../../support/use-world';
import { loadStory, openShop, runEngine, submit } from '../../support/leads';

/** Monday noon in New York. */
const world = useWorld({ clock: '2026-06-01T16:00:00Z', environment: { CARRIER: 'none' } });
const { ok, api, create } = world;

test('without a carrier, no call is placed and no number is sold, by name', async () => {
  const buyerId = await create('buyers', { name: 'Buyer', number: '+12125550122' });
  const offerId = await create('offers', { name: 'Auto', buyer_ids: [buyerId] });
  const body = { to: '+13105550123', offer_id: String(offerId) };
  const placed = await api('post', 'calls', { body });
  expect([placed.status, placed.body.code]).toEqual([409, 'carrier_refused']);
  expect(placed.body.detail).toContain('CARRIER=none');
  const numbers = await api('get', 'phone_numbers/search?country=US');
  expect([numbers.status, numbers.body.code]).toEqual([409, 'carrier_refused']);
  expect((await ok('get', 'calls')).calls).toEqual([]);
});

test('calls that come in are routed as ever', async () => {
  const buyerId = await create('buyers', { name: 'Buyer', number: '+12125550123' });
  const offerId = await create('offers', { name: 'Auto', buyer_ids: [buyerId] });
  const { call_session } = await ok('post', 'call_sessions', { offer_id: String(offerId) });
  expect(call_session.instruction.action).toBe('dial');
});

test('a lead whose schedule calls and texts has the reason in its history', async () => {
  const actions = [
    { action_type: 'dial', connect_to: '+13105550199' },
    { action_type: 'sms', body: 'Hello' },
  ];
  const { schedule } = await openShop(world, actions);
  const lead = (await submit(world, schedule.lead_token, { caller_id: '3105550124' })).body.id;
  await runEngine(world);
  const messages = await loadStory(world, lead);
  expect(messages.filter((message) => message.includes('CARRIER=none'))).toEqual([
    expect.stringContaining('places no calls'),
    expect.stringContaining('sends no texts'),
  ]);
});
