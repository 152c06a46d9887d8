import type { PayoutTerms } from '../engine/payout';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';

/** What an offer says of its calls. */
export interface OfferTerms {
  /** Null of a call that has no offer: its number forwards to a buyer. */
  id: number | null;
  name: string;
  paused: boolean;
  greeting_message: string | null;
  fallback_type: 'hang_up' | 'message' | 'voicemail' | 'number';
  fallback_message: string | null;
  fallback_number: string | null;
  callback_behavior: 'route_as_new' | 'same_buyer_first' | 'same_buyer_only';
  skip_duplicates: boolean;
  spacing_seconds: number;
  payouts: PayoutTerms[];
}

/** The lead of the caller that waits at the offer for its call, or is in one of its schedules. */
export interface CallersLead {
  id: number;
  data: Record<string, unknown>;
  schedule_id: number | null;
  traffic_source_id: number | null;
  sub_id: string | null;
  contact_field_type: string | null;
}

/** All that a call for an offer depends on beside the buyers. */
export interface CallFacts {
  offer: OfferTerms;
  blacklisted: boolean;
  /** Lists of the offer that hold the caller's number. */
  suppressed_by: { id: number; name: string }[];
  lead: CallersLead | null;
  /** Whom the caller was connected to last, of this offer. */
  previous_buyer_id: number | null;
  /** Fleets of the buyers it ever was connected to. */
  previous_fleets: string[];
  /** Buyers that have paid for the caller and would not pay now, and from when they would again. */
  paid: { buyer_id: number; pays_again_at: string }[];
  /** Calls of the caller within so many days. */
  calls_last: Record<1 | 7 | 30 | 90, number>;
}

const within = (days: number) =>
  `count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '${days} days')`;
const LIVE_LEAD = `l.company_id = {company_id} AND l.caller_number = {number}::bigint AND l.is_live AND l.deleted_at IS NULL AND l.offer_id = {offer_id}::bigint`;

const BLACKLISTED = `coalesce((SELECT k.blocked FROM contacts k WHERE k.company_id = {company_id} AND k.caller_number = {number}::bigint), false) AS blacklisted`;
const PREVIOUS_FLEETS = `ARRAY(SELECT DISTINCT f.user_fleet_id FROM calls c JOIN buyers b ON b.company_id = c.company_id AND b.id = c.buyer_id JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
      WHERE c.company_id = {company_id} AND c.caller_number = {number}::bigint AND c.connected_at IS NOT NULL ORDER BY 1) AS previous_fleets`;
const CALLS_LAST = `(SELECT json_build_object('1', ${within(1)}, '7', ${within(7)}, '30', ${within(30)}, '90', ${within(90)}) FROM calls c
      WHERE c.company_id = {company_id} AND c.caller_number = {number}::bigint AND c.created_at > {now}::timestamptz - interval '90 days') AS calls_last`;

const FACTS = template(
  `SELECT json_build_object('id', o.id, 'name', o.name, 'paused', o.paused, 'greeting_message', o.greeting_message, 'fallback_type', o.fallback_type, 'fallback_message', o.fallback_message,
      'fallback_number', o.fallback_number, 'callback_behavior', o.callback_behavior, 'skip_duplicates', o.skip_duplicates, 'spacing_seconds', o.spacing_seconds, 'payouts', o.payouts) AS offer,
    ${BLACKLISTED},
    coalesce((SELECT json_agg(json_build_object('id', s.id, 'name', s.name) ORDER BY s.id) FROM buyer_suppression_offers a
      JOIN buyer_suppressions s ON s.company_id = a.company_id AND s.id = a.buyer_suppression_id AND s.deleted_at IS NULL WHERE a.company_id = {company_id} AND a.offer_id = o.id
      AND EXISTS (SELECT FROM buyer_suppression_numbers n WHERE n.company_id = {company_id} AND n.buyer_suppression_id = s.id AND n.number = {number}::bigint)), '[]') AS suppressed_by,
    (SELECT json_build_object('id', l.id, 'data', l.data, 'schedule_id', l.schedule_id, 'traffic_source_id', l.traffic_source_id, 'sub_id', l.sub_id, 'contact_field_type', l.contact_field_type)
      FROM leads l WHERE ${LIVE_LEAD} ORDER BY l.updated_at DESC, l.id DESC LIMIT 1) AS lead,
    (SELECT c.buyer_id::float8 FROM calls c WHERE c.company_id = {company_id} AND c.caller_number = {number}::bigint AND c.offer_id = o.id AND c.connected_at IS NOT NULL ORDER BY c.id DESC LIMIT 1)
      AS previous_buyer_id,
    ${PREVIOUS_FLEETS},
    coalesce((SELECT json_agg(json_build_object('buyer_id', p.buyer_id, 'pays_again_at', p.pays_again_at)) FROM (
      SELECT v.buyer_id, max(v.created_at) + d.duplicate_timeframe * interval '1 second' AS pays_again_at FROM conversions v
      JOIN call_limits l ON l.company_id = v.company_id AND l.buyer_id = v.buyer_id, LATERAL (SELECT x.duplicate_timeframe FROM buyer_conversions x WHERE x.company_id = v.company_id AND x.buyer_id = v.buyer_id
        AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone)) ORDER BY x.time_frame, x.position LIMIT 1) d
      WHERE v.company_id = {company_id} AND v.caller_number = {number}::bigint GROUP BY v.buyer_id, d.duplicate_timeframe) p WHERE p.pays_again_at > {now}::timestamptz), '[]') AS paid,
    ${CALLS_LAST}
  FROM offers o WHERE o.company_id = {company_id} AND o.id = {offer_id}::bigint AND o.deleted_at IS NULL`,
  { prepared: true },
);

const OWN_FACTS = template(`SELECT ${BLACKLISTED}, ${PREVIOUS_FLEETS}, ${CALLS_LAST}`, {
  prepared: true,
});

/** Of a call that no offer says anything of. */
const NO_TERMS: OfferTerms = {
  id: null,
  name: '',
  paused: false,
  greeting_message: null,
  fallback_type: 'hang_up',
  fallback_message: null,
  fallback_number: null,
  callback_behavior: 'route_as_new',
  skip_duplicates: false,
  spacing_seconds: 0,
  payouts: [],
};

/**
 * What a call of a caller for an offer depends on; `number` is null when it is withheld. Undefined when there is no such offer. Without an offer
 * there is no lead, no list and nobody it was connected to before: the caller is all there is.
 */
export async function loadCallFacts(
  db: Statements,
  {
    offer_id,
    number,
    now,
  }: { offer_id: bigint | number | string | null; number: number | null; now: Date },
): Promise<CallFacts | undefined> {
  const asked = { company_id: db.company_id, number, now: now.toISOString() };
  if (offer_id !== null) return (await db.query<CallFacts>(FACTS({ ...asked, offer_id })))[0];
  const [own] = await db.query<Pick<CallFacts, 'blacklisted' | 'previous_fleets' | 'calls_last'>>(
    OWN_FACTS(asked),
  );
  return {
    ...own!,
    offer: NO_TERMS,
    suppressed_by: [],
    lead: null,
    previous_buyer_id: null,
    paid: [],
  };
}

/** What callers of an offer hear, or are put through to, when there is no buyer to talk to. */
export type OfferWords = Pick<
  OfferTerms,
  'greeting_message' | 'fallback_message' | 'fallback_number'
>;

const WORDS = template(
  'SELECT o.greeting_message, o.fallback_message, o.fallback_number FROM offers o WHERE o.company_id = {company_id} AND o.id = {offer_id}::bigint AND o.deleted_at IS NULL',
  { prepared: true },
);

/** Undefined when there is no such offer. */
export const readOfferWords = async (
  db: Statements,
  offer_id: number,
): Promise<OfferWords | undefined> =>
  (await db.query<OfferWords>(WORDS({ company_id: db.company_id, offer_id })))[0];

/** One of a buyer's conversions, as it pays for a call. */
export interface PayingConversion {
  id: number;
  name: string | null;
  conversion_type: 'duration' | 'postback';
  duration: number;
  revenue: number;
  duplicate_timeframe: number;
  token_values: string[];
  attribution_token_values: string[];
}

const CONVERSIONS = template(
  `WITH open AS (SELECT x.* FROM buyer_conversions x JOIN call_limits l ON l.company_id = x.company_id AND l.buyer_id = x.buyer_id
      WHERE x.company_id = {company_id} AND x.buyer_id = {buyer_id}::bigint AND is_open(x.open_minutes, local_minute_of_week({at}::timestamptz, l.zone)))
    SELECT x.id::float8 AS id, x.name, x.conversion_type, x.duration, x.revenue::float8 AS revenue, x.duplicate_timeframe, x.token_values, x.attribution_token_values
    FROM open x WHERE x.time_frame = (SELECT min(time_frame) FROM open) ORDER BY x.position`,
  { prepared: true },
);

/** The conversions of a buyer's time frame at an instant, in their order. */
export const loadConversions = (
  db: Statements,
  buyer_id: number,
  at: Date,
): Promise<PayingConversion[]> =>
  db.query<PayingConversion>(
    CONVERSIONS({ company_id: db.company_id, buyer_id, at: at.toISOString() }),
  );
