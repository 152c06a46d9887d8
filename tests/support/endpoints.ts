import { standingClock } from './clock';
import { CALLER } from './sellers';
import { createWorld, type Company, type World } from './world';

type Fields = Record<string, unknown>;

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';

/** A company with endpoints for sellers: registers the hooks of a test file. */
export function endpoints() {
  let world: World;
  let sequence = 0;
  const time = standingClock(MONDAY);
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
  });
  beforeEach(async () => {
    time.set(MONDAY);
    world.company = await world.addCompany();
  });
  afterAll(() => world.close());

  const record = async (plural: string, fields: Fields, company: Company = world.company) => {
    const res = await company.api('post', plural, { body: fields });
    if (res.status !== 201) throw new Error(`${plural}: ${res.text}`);
    return res.body[res.body.metadata.root];
  };
  const buyer = async (fields: Fields = {}): Promise<number> =>
    (
      await record('buyers', {
        name: 'Buyer',
        number: `+1212555${String(1000 + sequence++).slice(-4)}`,
        ...fields,
      })
    ).id;
  const offer = async (fields: Fields = {}): Promise<number> =>
    (await record('offers', { name: 'Auto', ...fields })).id;
  const endpoint = async (fields: Fields = {}) => {
    const body = {
      name: 'Partner',
      vanity_uri: `partner-${sequence++}`,
      offer_id: fields.offer_id ?? (await offer()),
      has_auth_token: false,
      ...fields,
    };
    return (await world.company.api('post', 'inbound_webhooks', { body })).body;
  };
  /** The address of an endpoint of an offer with these buyers. */
  const shop = async (buyerIds: number[], fields: Fields = {}): Promise<string> =>
    (await endpoint({ offer_id: await offer({ buyer_ids: buyerIds, ...fields }) })).inbound_webhook
      .vanity_uri;
  const send = (kind: string, vanityUri: string, body: Fields, more: Fields = {}) =>
    world.company.api('post', `inbound_webhooks/${kind}/${vanityUri}`, {
      auth: null,
      body,
      ...more,
    });
  const ping = async (vanityUri: string, fields: Fields = {}) =>
    (await send('ping', vanityUri, { caller_id: CALLER, ...fields })).body;

  const loadEndpoint = async (at: string) =>
    (
      await world.sql<{ id: string; offer_id: string }>(
        'SELECT id, offer_id FROM inbound_webhooks WHERE vanity_uri = $1',
        [at],
      )
    )[0]!;
  const offerAt = async (at: string) => Number((await loadEndpoint(at)).offer_id);
  const idAt = async (at: string) => Number((await loadEndpoint(at)).id);
  /** Puts the caller on a new suppression list. */
  const suppressed = async (fields: Fields) => {
    const { id } = await record('buyer_suppressions', { name: 'List', ...fields });
    return world.company.api('post', `buyer_suppressions/${id}/caller_block`, {
      body: { caller_ids: [CALLER] },
    });
  };

  return {
    get world() {
      return world;
    },
    time,
    record,
    buyer,
    offer,
    endpoint,
    shop,
    send,
    ping,
    offerAt,
    idAt,
    suppressed,
  };
}
