import { contract, facets, type Schemas } from '../../platform/contract/contract';
import { listVisibleBuyers, findNotWhole } from '../../data/access/scope';
import { listMakerPermissions, loadMakerViewer } from '../../data/access/makers';
import type { Db } from '../../data/db';
import { notFound, HttpProblem, rejectInvalidData } from '../../platform/errors';
import type { SellersEndpoint } from '../../api/auth/scheme';
import { findTrafficSource } from '../offers/find-traffic-source';
import { numberReader } from '../../data/phone/parse-number';
import { buildTokens, type Data } from '../../platform/tokens/lead-data';
import { READ_ENDPOINT } from './queries/pings';

export interface Endpoint {
  id: number;
  offer_id: number;
  traffic_source_id: number | null;
  hold_seconds: number;
  /** How many holds one address may have open. */
  max_open_holds: number;
  paused: boolean;
  /** True if the seller may read the names of buyers and lists. */
  show_buyer_names: boolean;
  /** The buyers whose names it may read at most: those that its maker sees. Absent: all. */
  may_name?: readonly number[];
  /** The buyers to which it sells: those that its maker sees. Absent: all buyers of the offer. */
  sells_to?: readonly number[];
}

export interface SellersRequest {
  endpoint: Endpoint;
  /** E.164 without the plus; null if what was sent is not a number, undefined if nothing was. */
  caller_number: number | null | undefined;
  traffic_source_id: number | null;
  sub_id: string | null;
  tokens: Data;
  ping_id: string | undefined;
}

const DECLARED_FIELDS = new Set(
  Object.keys(facets(contract.document.components.schemas.PostRequest!).properties),
);

/** Reads a ping or a post. Throws 422, or 404 if the endpoint was just deleted. */
export async function readRequest(
  db: Db,
  body: Schemas['PostRequest'],
  webhook: SellersEndpoint,
): Promise<SellersRequest> {
  const endpoint = await readEndpoint(db, webhook.id);
  const loose = Object.fromEntries(
    Object.entries(body).filter(([key]) => !DECLARED_FIELDS.has(key)),
  );
  const { tokens, faults } = buildTokens(loose, body.data ?? {});
  rejectInvalidData(faults);
  return {
    endpoint,
    caller_number: parseCaller(body, webhook.country),
    traffic_source_id: await findSource(db, body, endpoint, webhook.traffic_source_id),
    sub_id: body.sub_id ?? null,
    tokens,
    ping_id:
      body.ping_id === undefined || body.ping_id === null ? undefined : String(body.ping_id).trim(),
  };
}

/** The source of the token, else the one that the seller names, else that of the endpoint. */
async function findSource(
  db: Db,
  { traffic_source_id: reference }: Schemas['PostRequest'],
  { traffic_source_id: endpointSource }: { traffic_source_id: number | null },
  ofToken: number | undefined,
): Promise<number | null> {
  const requestedSource = reference ? Number(await findTrafficSource(db, reference)) : null;
  if (ofToken === undefined) return requestedSource ?? endpointSource;
  if (requestedSource !== null && requestedSource !== ofToken)
    throw HttpProblem.field(
      'traffic_source_id',
      'conflicting_fields',
      'must be left out: the auth_token is that of another traffic source',
    );
  return ofToken;
}

async function readEndpoint(db: Db, id: SellersEndpoint['id']): Promise<Endpoint> {
  const [row] = await db.sql(READ_ENDPOINT, { id });
  if (!row) throw notFound();
  const { maker_user_id, maker_team_ids, ...endpoint } = row;
  if (maker_user_id === null || endpoint.paused) return endpoint;
  const maker = { maker_user_id, maker_team_ids };
  const viewer = await loadMakerViewer(db, maker, listMakerPermissions('inbound_webhooks'));
  const visible = await listVisibleBuyers(viewer);
  const isWhole = (await findNotWhole(viewer, 'offers', [endpoint.offer_id])).length === 0;
  return { ...endpoint, may_name: visible, ...(!isWhole && { sells_to: visible }) };
}

function parseCaller(
  { caller_id, caller_number, phone }: Schemas['PingRequest'],
  country: string,
): number | null | undefined {
  const input = [caller_id, caller_number, phone].find(
    (value) => value !== undefined && value !== null && String(value).trim() !== '',
  );
  return input === undefined ? undefined : (numberReader(country)(String(input)) ?? null);
}

/** The caller; null if what was sent is not a number. Throws 422 if nothing was sent. */
export function requireCaller({ caller_number }: SellersRequest): number | null {
  if (caller_number === undefined)
    throw HttpProblem.field(
      'caller_id',
      'missing_field',
      'must be given: the telephone number of the caller, such as +13105550123 or (310) 555-0123',
    );
  return caller_number;
}
