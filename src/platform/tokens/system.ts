import { readLookups } from './filter-lookups';
import { keyFor } from './filter-values';
import { CONTACT_FIELDS, ZIP_TOKENS } from './lead-data';
import { ownTokens, type TokenSource } from './substitute';

/** The origin of a call or a lead, in addition to its own data. */
export interface Origin {
  traffic_source_id?: number | string | null | undefined;
  /** Undefined where it is looked up for the filters that use it. */
  user_traffic_source_id?: string | null | undefined;
  sub_id?: string | null | undefined;
  /** + and digits. */
  number_called?: string | null | undefined;
  /** From the carrier; data of the lead has precedence. */
  city?: string | null | undefined;
  state?: string | null | undefined;
  zip?: string | null | undefined;
  country?: string | null | undefined;
  /** Derived from the number; has the lowest precedence. */
  area?: { area_code: string | undefined; state: string | undefined } | undefined;
  /** The place of a ZIP, two letters each; undefined where it is none of North America. */
  locateZip?: (zip: string) => { state: string; country: string } | undefined;
}

/** Facts of the service about a lead, in addition to its data. */
export interface SystemFacts {
  /** + and digits. */
  caller_id: string;
  /** + and digits. */
  service_number: string | undefined;
  offer_name: string | undefined;
  buyer_name: string | undefined;
  call_uuid: string | undefined;
  /** Seconds. */
  total_duration: number | undefined;
  revenue: string;
  payout: string;
  previous_buyer_fleet_ids: readonly string[];
  /** Calls to and from the number, by days back. */
  calls_last: Readonly<Record<1 | 7 | 30 | 90, number>>;
  origin?: Origin;
}

/** Tokens that need a query for the calls of the number. */
export const CALL_TOKENS = [
  'call_uuid',
  'total_duration',
  'calls_last_1_days',
  'calls_last_7_days',
  'calls_last_30_days',
  'calls_last_90_days',
] as const;

/** Tokens of the service: data of a lead or a caller does not replace their values. */
const SERVICE_TOKENS: ReadonlySet<string> = new Set([
  'traffic_source_id',
  'user_traffic_source_id',
  'number_called',
  'sub_id',
]);

/** The tokens of a lead or a call: its own data first, then the facts of the service. */
export function leadTokens(data: Record<string, unknown>, facts: SystemFacts): TokenSource {
  const ownSource = ownTokens(data);
  const filled: FindFilled = (...names) =>
    names.map((name) => ownSource(name)?.trim()).find(Boolean);
  const system: Facts = {
    caller_id: () => facts.caller_id,
    first_name: () => filled('full_name', 'name')?.split(/\s/)[0],
    buyer_name: () => facts.buyer_name,
    offer_name: () => facts.offer_name,
    call_uuid: () => facts.call_uuid,
    total_duration: () => facts.total_duration?.toString(),
    revenue: () => facts.revenue,
    payout: () => facts.payout,
    service_number: () => facts.service_number,
    previous_buyer_fleet_ids: () => facts.previous_buyer_fleet_ids.join(','),
    ...Object.fromEntries(
      ([1, 7, 30, 90] as const).map((days) => [
        `calls_last_${days}_days`,
        () => String(facts.calls_last[days]),
      ]),
    ),
  };
  return withOrigin(ownSource, system, facts.origin ?? {});
}

/** The tokens of a call that has ended: its own, then its caller and its origin. */
export function callTokens(
  data: Record<string, unknown>,
  { caller_id, ...origin }: Origin & { caller_id: string },
): TokenSource {
  const ownSource = ownTokens(data);
  return withOrigin(ownSource, { caller_id: () => caller_id }, origin);
}

/** Tokens with the facts of an origin, in the order in which they count. */
export function withOrigin(ownSource: TokenSource, facts: Facts, origin: Origin): TokenSource {
  const filled: FindFilled = (...names) =>
    names.map((name) => ownSource(name)?.trim()).find(Boolean);
  const lookedUp = () => readLookups(tokens)?.user_traffic_source_id;
  const system: Facts = { ...facts, ...originFacts(origin, filled, lookedUp) };
  const read = (name: string) => {
    const fact = Object.hasOwn(system, name) ? system[name] : undefined;
    if (fact && SERVICE_TOKENS.has(name)) return fact();
    const value = ownSource(name);
    return fact && !value?.trim() ? (fact() ?? value) : value;
  };
  const exists = (name: string) =>
    Object.hasOwn(system, name) || CONTACT_FIELDS.has(name) || ownSource.exists?.(name) === true;
  const tokens: TokenSource = Object.assign(read, { exists });
  return tokens;
}

type Facts = Record<string, () => string | undefined>;
type FindFilled = (...names: string[]) => string | undefined;

/**
 * The origin of a call. For a location, data of the lead comes first, with the place of its ZIP,
 * then that of the carrier, then the area code.
 */
function originFacts(
  origin: Origin,
  filled: FindFilled,
  lookedUp: () => string | null | undefined,
): Facts {
  const { traffic_source_id, user_traffic_source_id, sub_id, number_called, area } = origin;
  const ownZip = () => filled(...ZIP_TOKENS);
  const zip = () => ownZip() ?? toText(origin.zip);
  const locate = (code: string | undefined) =>
    code === undefined ? undefined : origin.locateZip?.(code);
  // Carriers derive the city and the state from the number.
  const isElsewhere = () => {
    const [state, carrierState] = [locate(ownZip())?.state, toText(origin.state)];
    return Boolean(state && carrierState && toKey(state) !== toKey(carrierState));
  };
  return {
    traffic_source_id: () => toText(traffic_source_id?.toString()),
    user_traffic_source_id: () => toText(user_traffic_source_id ?? lookedUp()),
    sub_id: () => toText(sub_id) ?? filled('sub_id'),
    number_called: () => toText(number_called),
    geo_city: () => filled('city') ?? (isElsewhere() ? undefined : toText(origin.city)),
    geo_state: () =>
      filled('state_province', 'state', 'province', 'region') ??
      locate(ownZip())?.state ??
      toText(origin.state) ??
      locate(zip())?.state ??
      area?.state,
    geo_zip: zip,
    zip,
    geo_country: () => filled('country') ?? locate(ownZip())?.country ?? toText(origin.country),
    area_code: () => area?.area_code,
  };
}

const toKey = keyFor('geo_state');
const toText = (value: string | null | undefined): string | undefined => value?.trim() || undefined;
