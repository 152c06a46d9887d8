import { attackOnOffers } from '../../support/attack-on-offers';

// The kind of an event alone can reveal that a source is paid for a call, without any column.

const attack = attackOnOffers();

test('webhooks of an own buyer hear nothing of what sources are paid, nor that it was returned', async () => {
  const scene = await attack.scene();
  const { traffic_source } = await attack.ok('post', 'traffic_sources', { name: 'Search' });
  const payouts = [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }];
  await attack.ok('put', `offers/${scene.offer}`, { payouts });
  const webhooks = [];
  for (const triggerType of ['buyer_converted', 'offer_converted', 'conversion_returned']) {
    const { url, got } = attack.endpoint();
    const owner = { owner_type: 'Buyer', owner_id: scene.mine };
    const body = { name: 'Hook', url, trigger_type: triggerType, ...owner };
    const res = await scene.partner.api('post', 'outgoing_webhooks', { body });
    expect(res.status).toBe(201);
    const all = attack.endpoint();
    await attack.ok('post', 'outgoing_webhooks', { ...body, url: all.url });
    webhooks.push({ got, all: all.got });
  }
  const paid = await attack.take(scene, 'mine');
  await attack.world.sql('UPDATE calls SET traffic_source_id = $1 WHERE id = $2', [
    traffic_source.id,
    paid,
  ]);
  await attack.ok('post', `calls/${paid}`, { offer_converted: true });
  await attack.ok('post', `calls/${paid}`, { offer_converted: false });
  await attack.settled();
  expect(webhooks.map(({ all }) => all().length)).toEqual([1, 1, 1]);
  expect(webhooks.map(({ got }) => got().length)).toEqual([1, 0, 0]);
});
