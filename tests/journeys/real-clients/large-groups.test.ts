import { on, setUp } from '../../support/carrier-calls';
import type { Bought } from '../../support/switchboard';
import type { Played } from '../../support/twiml-caller';

// A group that rings all its buyers at once, on a carrier that rings ten.

let buyers: Bought[];
setUp();
beforeEach(async () => {
  buyers = [];
  for (let n = 0; n < 13; n++) buyers.push(await on.buyer({ concurrency_cap_limit: 1 }));
});

interface Decision {
  buyer_ids: number[];
  action: string;
  caps: { buyer_id: number | null }[];
  candidates: {
    buyer_id: number;
    chosen: boolean;
    rank: number | null;
    reason: string | null;
    message: string | null;
    details: object | null;
  }[];
}
const loadDecisions = async (played: Played): Promise<Decision[]> =>
  (await on.ok('get', `calls/${(await on.loadCall(played)).id}/decision`)).decisions;
const listNotRung = ({ candidates }: Decision) =>
  candidates.filter(({ reason }) => reason === 'not_rung').map(({ buyer_id }) => buyer_id);
const findId = (number: string) => buyers.find((buyer) => buyer.number === number)!.id;

test('ten are reserved and rung, the others are not_rung and nothing is taken of them', async () => {
  await on.atOnce(buyers);
  const played = await on.placeCall({ to: on.companyNumber, gives_up: 3 });
  expect(played.rung.map((round) => round.length)).toEqual([10]);
  const [decision] = await loadDecisions(played);
  const rung = played.rung[0]!.map(findId);
  const otherIds = buyers.map(({ id }) => id).filter((id) => !rung.includes(id));
  expect([...decision!.buyer_ids].sort()).toEqual([...rung].sort());
  expect(listNotRung(decision!).sort()).toEqual([...otherIds].sort());
  const groupId = (await on.ok('get', 'buyer_groups')).buyer_groups[0].id;
  expect(decision!.candidates.find(({ buyer_id }) => buyer_id === otherIds[0])).toMatchObject({
    chosen: false,
    rank: null,
    message: expect.stringContaining('the carrier rings 10 buyers at once'),
    details: { max_legs: 10, buyer_group_id: groupId },
  });
  for (const { id, number } of buyers)
    expect(await on.counts({ id, number })).toEqual([rung.includes(id) ? 1 : 0, 0, 0, 0]);
  expect((await on.attempts(played)).length).toBe(10);
});

test('the next round rings the others, and none of the first again', async () => {
  await on.atOnce(buyers);
  const last = buyers.at(-1)!;
  const played = await on.placeCall({ to: on.companyNumber });
  expect(played.rung.map((round) => round.length)).toEqual([10, 3]);
  expect(new Set(played.rung.flat()).size).toBe(13);
  const [first, second] = await loadDecisions(played);
  expect(listNotRung(first!).length).toBe(3);
  expect(second!.buyer_ids.toSorted()).toEqual(listNotRung(first!).toSorted());
  expect(await on.slots()).toBe(0);
  const secondCall = await on.placeCall({
    from: '+13105550189',
    to: on.companyNumber,
    buyers: { [last.number]: { does: 'answer', after: 4, talks: 65 } },
  });
  expect(secondCall.connected).toBe(last.number);
});

test('of many the lowest tier and the heaviest go first, drawn with the seed', async () => {
  for (const { id } of buyers.slice(3)) await on.ok('put', `buyers/${id}`, { tier: 2 });
  await on.atOnce(buyers);
  const played = await on.placeCall({ to: on.companyNumber, gives_up: 3 });
  const rung = played.rung[0]!.map(findId);
  for (const { id } of buyers.slice(0, 3)) expect(rung).toContain(id);
});

test('an explanation says the same for the carrier; a softswitch rings all', async () => {
  await on.atOnce(buyers);
  const offerId = (await on.ok('get', 'offers')).offers[0].id;
  const ask = async (more: object): Promise<Decision> =>
    (await on.ok('post', 'routing/explain', { offer_id: offerId, seed: 'same', ...more })).decision;
  const ofCarrier = await ask({ carrier: 'twilio' });
  expect([ofCarrier.buyer_ids.length, listNotRung(ofCarrier).length]).toEqual([10, 3]);
  expect((await ask({ carrier: 'twilio' })).buyer_ids).toEqual(ofCarrier.buyer_ids);
  expect(listNotRung(await ask({ carrier: 'softswitch' }))).toEqual([]);
  const session = await on.ok('post', 'call_sessions', {
    offer_id: offerId,
    caller_number: '+13105550190',
  });
  expect(session.call_session.instruction.dial.length).toBe(13);
});

test('a simulation of such a call skips as many, for the same reason', async () => {
  await on.atOnce(buyers);
  const played = await on.placeCall({ to: on.companyNumber, gives_up: 3 });
  const offerId = Number((await on.loadCall(played)).offer_id);
  const { simulation } = await on.ok('post', 'routing/simulate', {
    offer_id: offerId,
    changes: [{ buyer_id: buyers[0]!.id, paused: false }],
    from: '2026-06-01T00:00:00Z',
    to: '2026-06-02T00:00:00Z',
  });
  const skipped = simulation.buyers.filter(
    (row: { as_configured: { skip_reasons: object } }) =>
      'not_rung' in row.as_configured.skip_reasons,
  );
  const [decision] = await loadDecisions(played);
  expect(skipped.map(({ buyer_id }: { buyer_id: number }) => buyer_id).sort()).toEqual(
    listNotRung(decision!).sort(),
  );
});
