import { expireReservations } from '../../src/domain/routing/expire-reservations';
import { createRecord, nextNumber, type Fields } from './records';
import { useWorld } from './use-world';

/** Monday 08:30 in New York. */
export const MONDAY = '2026-06-01T12:30:00Z';
export const CALLER = '+13105550188';

/** An offer, and the address of its endpoint for sellers. */
export interface Shop {
  offer: number;
  at: string;
}

export const all = (n: number) => Array(5).fill(n) as number[];

let shopCount = 0;
/** An endpoint that needs no token. */
export const buildEndpoint = (fields: Fields) => ({
  name: 'Partner',
  vanity_uri: `shop-${shopCount++}`,
  has_auth_token: false,
  ...fields,
});

/** A company with sellers of calls: registers the hooks of a test file. */
export function sellers(environment: Record<string, string> = {}) {
  const world = useWorld({ clock: MONDAY, fresh: 'company', environment });
  const { clock, create } = world;
  const expire = (now: Date) => expireReservations(world.deps.database.pool, now);
  // Reservations of other tests would be counted too.
  beforeEach(() => expire(new Date('2099-01-01')));

  const ok = (path: string, body: Fields, method: 'post' | 'put' = 'post') =>
    world.ok(method, path, body);
  const buyer = (fields: Fields = {}) =>
    create('buyers', { name: 'Buyer', number: nextNumber(), ...fields });

  /** An offer of buyers with an endpoint for sellers. */
  async function shop(buyerIds: number[], fields: Fields = {}): Promise<Shop> {
    const offer = await create('offers', { name: 'Auto', buyer_ids: buyerIds });
    const endpoint = buildEndpoint({ offer_id: offer, ...fields });
    return { offer, at: (await world.createRecord('inbound_webhooks', endpoint)).vanity_uri };
  }

  const ask = async (kind: 'ping' | 'post' | 'full', { at }: Shop, body: Fields) => {
    const res = await world.api('post', `inbound_webhooks/${kind}/${at}`, { auth: null, body });
    if (res.status !== 200) throw new Error(res.text);
    return res.body;
  };
  const ping = (at: Shop, fields: Fields = {}) => ask('ping', at, { caller_id: CALLER, ...fields });
  const post = (at: Shop, fields: Fields) => ask('post', at, fields);
  const call = async ({ offer }: Shop, callerNumber = CALLER) =>
    (await ok('call_sessions', { offer_id: offer, caller_number: callerNumber })).call_session;
  /** Usage of the buyer's caps: attempts by interval, and concurrency. */
  const used = async (id: number) => {
    const { buyer: shownBuyer } = await world.ok('get', `buyers/${id}`);
    const intervals = ['total', 'monthly', 'daily', 'hourly'].map((name) => `attempt_${name}`);
    return [...intervals, 'concurrency_cap'].map((cap) => shownBuyer[`${cap}_used`]);
  };
  const holds = async () =>
    (await world.sql('SELECT FROM call_holds WHERE company_id = $1', [world.company.id])).length;

  /** A number of the offer, for calls to be forwarded to. */
  const buyNumber = ({ offer }: Shop) =>
    create('phone_numbers', { prefix: '212', offer_id: offer });

  return {
    world,
    time: clock,
    ok,
    later: clock.later,
    buyer,
    shop,
    ask,
    ping,
    post,
    call,
    sweep: () => expire(clock.read()),
    used,
    holds,
    buyNumber,
  };
}

/** A company with endpoints for sellers: registers the hooks of a test file. */
export function endpoints() {
  const { world, time, buyer } = sellers();
  const record = (plural: string, fields: Fields, company = world.company) =>
    createRecord(company.api, plural, fields);
  const offer = (fields: Fields = {}) => world.create('offers', { name: 'Auto', ...fields });
  const endpoint = async (fields: Fields = {}) => {
    const body = buildEndpoint({ offer_id: fields.offer_id ?? (await offer()), ...fields });
    return (await world.api('post', 'inbound_webhooks', { body })).body;
  };
  /** The address of an endpoint of an offer with these buyers. */
  const shop = async (buyerIds: number[], fields: Fields = {}): Promise<string> =>
    (await endpoint({ offer_id: await offer({ buyer_ids: buyerIds, ...fields }) })).inbound_webhook
      .vanity_uri;
  const send = (kind: string, at: string, body: Fields, more: Fields = {}) =>
    world.api('post', `inbound_webhooks/${kind}/${at}`, { auth: null, body, ...more });
  const ping = async (at: string, fields: Fields = {}) =>
    (await send('ping', at, { caller_id: CALLER, ...fields })).body;
  const findAt = async (at: string, column: 'id' | 'offer_id') => {
    const text = `SELECT ${column} AS id FROM inbound_webhooks WHERE vanity_uri = $1`;
    return Number((await world.sql<{ id: string }>(text, [at]))[0]!.id);
  };
  /** Puts the caller on a new suppression list. */
  const suppressed = async (fields: Fields) => {
    const id = await world.create('buyer_suppressions', { name: 'List', ...fields });
    return world.api('post', `buyer_suppressions/${id}/caller_block`, {
      body: { caller_ids: [CALLER] },
    });
  };
  return {
    world,
    time,
    record,
    buyer,
    offer,
    endpoint,
    shop,
    send,
    ping,
    offerAt: (at: string) => findAt(at, 'offer_id'),
    idAt: (at: string) => findAt(at, 'id'),
    suppressed,
  };
}
