import { attackOnOffers, type Attack } from '../../support/attack-on-offers';

// The attack: a partner makes webhooks that say that its buyer does not pay for a call, or no
// longer. They were taken and never sent, because the partner sees calls that are paid for. What
// they show must not be the way to the callers of calls that the buyer does not pay for.

const attack = attackOnOffers();

type Fields = Record<string, unknown>;
interface Delivery {
  type: string;
  data: { call: Fields; conversion?: Fields; buyer?: Fields };
}

/** A webhook of the partner for an own buyer, and what it is sent. */
async function createHook(scene: Awaited<ReturnType<Attack['scene']>>, triggerType: string) {
  const { url, got } = attack.endpoint();
  const owner = { owner_type: 'Buyer', owner_id: scene.mine };
  const body = { name: 'Hook', url, trigger_type: triggerType, ...owner };
  const res = await scene.partner.api('post', 'outgoing_webhooks', { body });
  expect(res.status).toBe(201);
  return () => got().map((delivery) => JSON.parse(delivery.body.toString()) as Delivery);
}

const KINDS = ['buyer_did_not_convert', 'conversion_returned'];

test('webhooks of an own buyer hear of what it does not pay for, and nothing of the caller', async () => {
  const scene = await attack.scene();
  const payouts = [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }];
  await attack.ok('put', `offers/${scene.offer}`, { payouts });
  const [missed, returned] = await Promise.all(KINDS.map((kind) => createHook(scene, kind)));
  const unpaid = await attack.take(scene, 'mine', 1);
  const paid = await attack.take(scene, 'mine');
  await attack.ok('post', `calls/${paid}`, { buyer_converted: false });
  await attack.settled();
  expect([missed!(), returned!()]).toEqual([
    [{ type: KINDS[0], timestamp: expect.any(String), data: expect.anything() }],
    [{ type: KINDS[1], timestamp: expect.any(String), data: expect.anything() }],
  ]);
  const shown = { buyer_id: scene.mine, buyer: 'Mine', buyer_converted: false, revenue: 0 };
  expect(missed!()[0]!.data.call).toMatchObject({ id: unpaid, ...shown });
  const { call, conversion } = returned!()[0]!.data;
  expect(call).toMatchObject({ id: paid, ...shown });
  expect(conversion).toMatchObject({ call_id: paid, revenue: 20, payout: null });
  for (const listBodies of [missed!, returned!]) {
    const text = JSON.stringify(listBodies());
    expect(text).not.toContain('of a caller');
    expect(text).not.toContain('+1310557');
    expect(Object.keys(listBodies()[0]!.data.call)).not.toContain('payout');
  }
});

test('they hear nothing of calls of other buyers, nor that a payout alone was returned', async () => {
  const scene = await attack.scene();
  const { traffic_source } = await attack.ok('post', 'traffic_sources', { name: 'Search' });
  const hooks = await Promise.all(KINDS.map((kind) => createHook(scene, kind)));
  await attack.take(scene, 'rival', 1);
  const sold = await attack.take(scene, 'rival');
  await attack.ok('post', `calls/${sold}`, { buyer_converted: false });
  const ownCall = await attack.take(scene, 'mine');
  const set = 'UPDATE calls SET traffic_source_id = $1 WHERE id = $2';
  await attack.world.sql(set, [traffic_source.id, ownCall]);
  await attack.ok('post', `calls/${ownCall}`, { payout: 3 });
  await attack.ok('post', `calls/${ownCall}`, { offer_converted: false });
  await attack.settled();
  expect(hooks.map((listBodies) => listBodies())).toEqual([[], []]);
});
