import { bidding, dialed, toReasons } from '../../support/bidding';
import { ANSWERS } from '../../support/bidders';

// Dollar caps of traffic sources where bids come after the call: what calls may bring together
// never exceeds them.

const here = bidding();
const { ok, buyer, bidder, shop, event, decided, someone } = here;

const PAYS = { current_conversion_revenue: 5, current_conversion_duration: 10 };

interface Session {
  id: number;
  instruction: { action: string; dial: { name: string; attempt: string }[] };
}

/** A source with a cap, and an offer with a sure buyer, then a bidder, then another buyer. */
async function scene(sourceLimits: object) {
  const { traffic_source } = await ok('traffic_sources', { name: 'Ads', ...sourceLimits });
  const { offer } = await shop([
    await buyer({ name: 'first', tier: 1, ...PAYS }),
    await bidder('bidder', { route_by_type: 'tier', tier: 2 }),
    await buyer({ name: 'last', tier: 3, ...PAYS }),
  ]);
  here.bidders.answer({ bidder: ANSWERS.bid(40, { duration: 10 }) });
  const begin = async (): Promise<Session> =>
    (
      await ok('call_sessions', {
        offer_id: offer,
        caller_number: someone(),
        traffic_source_id: traffic_source.id,
      })
    ).call_session;
  const limits = async () => {
    const [row] = await here.world.sql<{ pending: number; used: number; slots: number }>(
      `SELECT
        pending_revenue::float8 AS pending, revenue_total_used::float8 AS used,
        concurrency_cap_used AS slots
      FROM call_limits WHERE traffic_source_id = $1`,
      [traffic_source.id],
    );
    return row!;
  };
  return { begin, limits };
}

test('calls whose first buyer is busy hold no more of the cap than it has, however many at once', async () => {
  // The attempts are used up by the calls themselves, which does not matter to their later buyers.
  const { begin, limits } = await scene({ revenue_total_limit: 145, attempt_total_limit: 8 });
  const sessions = await Promise.all(Array.from({ length: 8 }, begin));
  expect(sessions.map(dialed)).toEqual(Array(8).fill(['first']));
  expect(await limits()).toMatchObject({ pending: 40 });
  const next: Session[] = await Promise.all(sessions.map(({ id }) => event(id, { event: 'busy' })));
  const names = next.map((session) => dialed(session)[0]).toSorted();
  // Three calls for 40 dollars and five for 5: a fourth for 40 would come to 180.
  expect(names).toEqual([...Array(3).fill('bidder'), ...Array(5).fill('last')]);
  expect(await limits()).toMatchObject({ pending: 145 });
  const lastSession = next.find((session) => dialed(session)[0] === 'last')!;
  expect(toReasons(await decided(lastSession.id))).toMatchObject({
    first: 'already_tried',
    bidder: 'traffic_source_cap_reached',
  });
  await Promise.all(
    next.map(async ({ id, instruction }) => {
      await event(id, { event: 'answered', attempt: instruction.dial[0]!.attempt });
      await event(id, { event: 'completed', duration: 60 });
    }),
  );
  expect(await limits()).toEqual({ pending: 0, used: 145, slots: 0 });
});

test('a call that no buyer gets in the end gives back all that it held', async () => {
  const { begin, limits } = await scene({ revenue_total_limit: 45 });
  const { id } = await begin();
  expect(dialed(await event(id, { event: 'busy' }))).toEqual(['bidder']);
  expect(await limits()).toMatchObject({ pending: 40 });
  expect(dialed(await event(id, { event: 'busy' }))).toEqual(['last']);
  expect((await event(id, { event: 'busy' })).instruction.action).toBe('hang_up');
  expect(await limits()).toEqual({ pending: 0, used: 0, slots: 0 });
});
