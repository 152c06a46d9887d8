import { endpoints } from '../../support/sellers';

// A seller of calls learns what it is paid, not what buyers pay nor who they are.

type Fields = Record<string, unknown>;

const here = endpoints();
const { record, buyer, offer, endpoint, send, ping, suppressed } = here;

const BUYER = { name: 'Secret Buyer', user_buyer_id: 'secret-buyer' };
const PAYS = { current_conversion_revenue: 40, current_conversion_duration: 90 };

/** An endpoint whose calls are paid by these terms, if there are some. */
async function createMarket(terms: Fields | undefined, fields: Fields = {}) {
  const { id: trafficSourceId } = await record('traffic_sources', { name: 'Seller' });
  const payouts = terms ? [{ traffic_source_id: trafficSourceId, ...terms }] : [];
  const offerId = await offer({ buyer_ids: [await buyer({ ...BUYER, ...PAYS })], payouts });
  const { inbound_webhook } = await endpoint({
    offer_id: offerId,
    traffic_source_id: trafficSourceId,
    ...fields,
  });
  return inbound_webhook.vanity_uri as string;
}

const FIXED = { payout_type: 'fixed', amount: 11.5 };
test.each([
  ['a fixed payout', FIXED, 11.5, 90],
  ['a share of what the buyer pays', { payout_type: 'percentage', amount: 25 }, 10, 90],
  ['a payout by duration', { ...FIXED, paid_for: 'duration', duration: 30 }, 11.5, 30],
  ['no payout', undefined, 0, null],
])('under %s, ping and post tell that and no more', async (_, terms, price, duration) => {
  const at = await createMarket(terms);
  const pinged = await ping(at);
  expect(pinged).toMatchObject({ status: 'accepted', bid_price: price });
  expect(pinged.buyers).toMatchObject([
    { name: null, user_buyer_id: null, bid_price: price, bid_duration: duration },
  ]);
  const posted = await send('post', at, { ping_id: pinged.try_all_buyers_ping_id });
  const full = await send('full', at, { caller_id: '+13105550189' });
  for (const { body } of [posted, full]) {
    expect(body).toMatchObject({ status: 'accepted', bid_price: price, bid_duration: duration });
    expect(body).toMatchObject({ name: null, user_buyer_id: null });
  }
  const answers = JSON.stringify([pinged, posted.body, full.body]);
  expect(['Secret', 'secret-buyer', ':40'].filter((secret) => answers.includes(secret))).toEqual(
    [],
  );
});

test('the source that the request names decides what is paid', async () => {
  const at = await createMarket(FIXED);
  const { id } = await record('traffic_sources', { name: 'Unpaid' });
  expect(await ping(at, { traffic_source_id: id })).toMatchObject({ bid_price: 0 });
});

test('names of buyers are shown where the endpoint says so', async () => {
  const at = await createMarket(FIXED, { show_buyer_names: true });
  const pinged = await ping(at);
  expect(pinged.buyers).toMatchObject([{ ...BUYER, bid_price: 11.5 }]);
  const posted = await send('post', at, { ping_id: pinged.try_all_buyers_ping_id });
  expect(posted.body).toMatchObject(BUYER);
});

test.each([
  [false, "the caller's number is on a suppression list of the offer"],
  [true, expect.stringMatching(/^the caller's number is on a suppression list of the offer: "/)],
])('names of lists too (%s)', async (showBuyerNames, message) => {
  const offerId = await offer({ buyer_ids: [await buyer()] });
  await suppressed({ offer_ids: [offerId] });
  const { inbound_webhook } = await endpoint({
    offer_id: offerId,
    show_buyer_names: showBuyerNames,
  });
  const res = await ping(inbound_webhook.vanity_uri);
  expect(res).toMatchObject({ status: 'caller_number_suppressed', errors: [message] });
});
