import { expireReservations } from '../../src/domain/routing/expire-reservations';
import { standingClock } from './clock';
import { createWorld, type World } from './world';

type Fields = Record<string, unknown>;

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';
export const CALLER = '+13105550188';

/** An offer, and the address of its endpoint for sellers. */
export interface Shop {
  offer: number;
  at: string;
}

export const all = (n: number) => Array(5).fill(n) as number[];

/** A company with sellers of calls: registers the hooks of a test file. */
export function sellers(environment: Record<string, string> = {}) {
  let world: World;
  let sequence = 0;
  const time = standingClock(MONDAY);
  beforeAll(async () => {
    world = await createWorld({ clock: time.read, environment });
  });
  beforeEach(async () => {
    time.set(MONDAY);
    // Reservations of other tests would be counted too.
    await expireReservations(world.deps.database.pool, new Date('2099-01-01'));
    world.company = await world.addCompany();
  });
  afterAll(() => world.close());

  const ok = async (path: string, body: Fields, method: 'post' | 'put' = 'post') => {
    const res = await world.company.api(method, path, { body });
    if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
    return res.body;
  };
  const later = (seconds: number) =>
    time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
  const buyer = async (fields: Fields = {}): Promise<number> =>
    (
      await ok('buyers', {
        name: 'Buyer',
        number: `+1212555${String(1000 + sequence++).slice(-4)}`,
        ...fields,
      })
    ).buyer.id;

  /** An offer of buyers with an endpoint for sellers. */
  async function shop(buyerIds: number[], fields: Fields = {}): Promise<Shop> {
    const offer = (await ok('offers', { name: 'Auto', buyer_ids: buyerIds })).offer.id;
    const at = `shop-${sequence++}`;
    const open = { name: 'Partner', vanity_uri: at, offer_id: offer, has_auth_token: false };
    await ok('inbound_webhooks', { ...open, ...fields });
    return { offer, at };
  }

  const ask = async (kind: 'ping' | 'post' | 'full', { at }: Shop, body: Fields) => {
    const res = await world.company.api('post', `inbound_webhooks/${kind}/${at}`, {
      auth: null,
      body,
    });
    if (res.status !== 200) throw new Error(res.text);
    return res.body;
  };
  const ping = (at: Shop, fields: Fields = {}) => ask('ping', at, { caller_id: CALLER, ...fields });
  const post = (at: Shop, fields: Fields) => ask('post', at, fields);
  const call = async ({ offer }: Shop, callerNumber = CALLER) =>
    (await ok('call_sessions', { offer_id: offer, caller_number: callerNumber })).call_session;
  const sweep = () => expireReservations(world.deps.database.pool, time.read());
  /** Usage of the buyer's caps: attempts by interval, and concurrency. */
  const used = async (id: number) => {
    const { buyer: shownBuyer } = (await world.company.api('get', `buyers/${id}`)).body;
    const {
      attempt_total_used,
      attempt_monthly_used,
      attempt_daily_used,
      attempt_hourly_used,
      concurrency_cap_used,
    } = shownBuyer;
    return [
      attempt_total_used,
      attempt_monthly_used,
      attempt_daily_used,
      attempt_hourly_used,
      concurrency_cap_used,
    ];
  };
  const holds = async () =>
    (
      await world.sql<{ n: number }>(
        'SELECT count(*)::int AS n FROM call_holds WHERE company_id = $1',
        [world.company.id],
      )
    )[0]!.n;

  /** A number of the offer, for calls to be forwarded to. */
  async function buyNumber({ offer }: Shop): Promise<void> {
    await ok('phone_numbers', { prefix: '212', offer_id: offer });
  }

  return {
    get world() {
      return world;
    },
    time,
    ok,
    later,
    buyer,
    shop,
    ask,
    ping,
    post,
    call,
    sweep,
    used,
    holds,
    buyNumber,
  };
}
