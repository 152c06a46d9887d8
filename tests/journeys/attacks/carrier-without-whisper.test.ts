import { on, setUp, world } from '../../support/carrier-calls';
import type { Bought } from '../../support/switchboard';

// A service that speaks TwiML, and does not run the url of a <Number>: a buyer that must press 1
// would answer, hear nothing, and be connected, or not, without a key. It is passed over instead.

setUp({
  CARRIER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_BASE_URL: 'http://127.0.0.1:9',
  TWILIO_CAN_WHISPER: 'false',
});

const REASON = 'key_press_unavailable';
interface CandidateReason {
  buyer_id: number;
  reason: string | null;
}

/** A buyer that must press 1 and would be first, a buyer that need not, and their offer. */
async function createBothBuyers(): Promise<[Bought, Bought, number]> {
  const pressing = await on.buyer({ press_one_to_accept: true, tier: 1 });
  const otherBuyer = await on.buyer({ tier: 2 });
  return [pressing, otherBuyer, await on.offer([pressing, otherBuyer])];
}

const toReasons = (candidates: CandidateReason[]) =>
  Object.fromEntries(candidates.map(({ buyer_id, reason }) => [buyer_id, reason]));

test('a call of the carrier passes the buyer over in each round, and takes nothing of it', async () => {
  const [pressing, otherBuyer] = await createBothBuyers();
  const played = await on.placeCall({
    to: on.companyNumber,
    buyers: { [otherBuyer.number]: { does: 'busy' } },
  });
  expect([played.rung, played.prompts]).toEqual([[[otherBuyer.number]], []]);
  const { id } = await on.loadCall(played);
  const { decisions } = await on.ok('get', `calls/${id}/decision`);
  expect(
    decisions.map(({ candidates }: { candidates: CandidateReason[] }) => toReasons(candidates)),
  ).toEqual([
    { [pressing.id]: REASON, [otherBuyer.id]: null },
    { [pressing.id]: REASON, [otherBuyer.id]: 'already_tried' },
  ]);
  expect(await on.counts(pressing)).toEqual([0, 0, 0, 0]);
});

test('a group that rings at once rings the others', async () => {
  const [pressing, otherBuyer] = [await on.buyer({ press_one_to_accept: true }), await on.buyer()];
  await on.atOnce([pressing, otherBuyer]);
  const played = await on.placeCall({ to: on.companyNumber });
  expect(played.rung).toEqual([[otherBuyer.number]]);
});

test('a softswitch, which asks by itself, gets the buyer', async () => {
  const [pressing, , offerId] = await createBothBuyers();
  const { call_session } = await on.ok('post', 'call_sessions', {
    offer_id: offerId,
    caller_number: '+13105550190',
  });
  const [dial] = call_session.instruction.dial;
  expect([dial.buyer_id, dial.press_one_to_accept]).toEqual([pressing.id, true]);
});

test('explanations, simulations and availability say the same', async () => {
  const [pressing, otherBuyer, offerId] = await createBothBuyers();
  const explain = async (more: object) =>
    toReasons(
      (await on.ok('post', 'routing/explain', { offer_id: offerId, caller_number: null, ...more }))
        .decision.candidates,
    );
  const expected = { [pressing.id]: REASON, [otherBuyer.id]: null };
  expect(await explain({})).toEqual(expected);
  expect(await explain({ carrier: 'twilio' })).toEqual(expected);
  expect(await explain({ carrier: 'softswitch' })).toEqual({ ...expected, [pressing.id]: null });
  const { simulation } = await on.ok('post', 'routing/simulate', {
    offer_id: offerId,
    changes: [{ buyer_id: otherBuyer.id, weight: 2 }],
    synthetic: { calls: 5, from: '2026-06-01T00:00:00Z', to: '2026-06-01T01:00:00Z' },
  });
  const row = simulation.buyers.find(({ buyer_id }: CandidateReason) => buyer_id === pressing.id);
  expect(row.as_configured.skip_reasons).toEqual({ [REASON]: 5 });
});

test('nobody is called, and no call is bought, for a buyer that cannot be asked', async () => {
  const pressing = await on.buyer({ press_one_to_accept: true });
  const offerId = await on.offer([pressing]);
  const sold = {
    name: 'Partner',
    vanity_uri: 'no-whisper',
    offer_id: offerId,
    has_auth_token: false,
  };
  await on.ok('post', 'inbound_webhooks', sold);
  const ping = await world.company.api('post', 'inbound_webhooks/ping/no-whisper', {
    auth: null,
    body: { caller_id: '+13105550191' },
  });
  expect(ping.body).toMatchObject({ status: 'no_buyer_available' });
  const order = { to: '+13105550192', offer_id: offerId, from: on.companyNumber };
  const placed = await world.company.api('post', 'calls', { body: order });
  expect([placed.status, placed.body.code]).toEqual([422, 'no_buyer']);
});
