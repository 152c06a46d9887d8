import { startBidders } from './bidders';
import type { Fields } from './records';
import { CALLER, sellers, type Shop } from './sellers';

/** A company whose buyers bid: registers the hooks of a test file. */
export function bidding() {
  const here = sellers({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' });
  const { ok, buyer, world } = here;
  let bidders: Awaited<ReturnType<typeof startBidders>>;
  beforeAll(async () => {
    bidders = await startBidders();
    world.closeLater(bidders.close);
  });
  beforeEach(() => bidders.answer({}));

  const bidder = (name: string, fields: Fields = {}) =>
    buyer({
      name,
      buyer_type: 'rtb',
      route_by_type: 'revenue',
      ping_timeout_seconds: 5,
      bid_request: { url: bidders.buildUrl(name) },
      ...fields,
    });
  const get = (path: string) => world.ok('get', path);
  let callers = 0;
  return {
    ...here,
    get bidders() {
      return bidders;
    },
    bidder,
    get,
    /** The last decision about a call. */
    decided: async (id: number) => (await get(`calls/${id}/decision`)).decisions.at(-1),
    explain: async ({ offer }: Shop, callerNumber = CALLER) =>
      (await ok('routing/explain', { offer_id: offer, caller_number: callerNumber })).decision,
    event: async (id: number, fields: Fields) =>
      (await ok(`call_sessions/${id}/events`, fields)).call_session,
    someone: () => `+1310556${1000 + ++callers}`,
  };
}

/** Why each buyer does not get the call, by its name. */
export const toReasons = (decision: { candidates: Fields[] }) =>
  Object.fromEntries(decision.candidates.map(({ name, reason }) => [name as string, reason]));

export const dialed = ({ instruction }: { instruction: { dial: Fields[] } }) =>
  instruction.dial.map(({ name }) => name);
