import { sql, statement } from '../../../data/sql';
import type { PayoutTerms } from '../../money/engine/payout';

export interface OfferTerms {
  /** Null for a call to a number that forwards to a buyer. */
  id: number | null;
  name: string;
  paused: boolean;
  greeting_message: string | null;
  fallback_type: 'hang_up' | 'message' | 'voicemail' | 'number';
  fallback_message: string | null;
  fallback_number: string | null;
  /** Played to a person who was called. */
  abandoned_message: string | null;
  callback_behavior: 'route_as_new' | 'same_buyer_first' | 'same_buyer_only';
  skip_duplicates: boolean;
  spacing_seconds: number;
  payouts: PayoutTerms[];
}

/** The caller's lead that waits for its call at the offer, or is in one of its schedules. */
export interface CallersLead {
  id: number;
  data: Record<string, unknown>;
  schedule_id: number | null;
  traffic_source_id: number | null;
  sub_id: string | null;
  contact_field_type: string | null;
}

/** The data of a caller that do not depend on an offer. */
export interface Caller {
  blacklisted: boolean;
  /** Fleets of the buyers that the caller was ever connected to. */
  previous_fleets: string[];
  /** Numbers of calls in the last 1, 7, 30 and 90 days. */
  calls_last: Record<1 | 7 | 30 | 90, number>;
}

/** The data of a call that depend on the offer, except the buyers. */
export interface FactsOfOffer {
  offer: OfferTerms;
  /** Set on request of the holder of a lead token. */
  blocked_for_offer: boolean;
  suppressed_by: { id: number; name: string }[];
  lead: CallersLead | null;
  /** The buyer of the caller's last connected call for this offer. */
  previous_buyer_id: number | null;
  /** Buyers that have paid for the caller and would not pay now, and when they pay again. */
  paid: { buyer_id: number; pays_again_at: string }[];
}

// Columns about one caller: `asked.number` is its number, null when it is withheld.

/** Columns of `Caller`. */
export const CALLER_COLUMNS = sql`
  coalesce((
    SELECT k.blocked
    FROM contacts k
    WHERE k.company_id = {company_id} AND k.caller_number = asked.number
  ), false) AS blacklisted,
  ARRAY(
    SELECT DISTINCT f.user_fleet_id
    FROM calls c
    JOIN buyers b ON b.company_id = c.company_id AND b.id = c.buyer_id
    JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
    WHERE c.company_id = {company_id} AND c.caller_number = asked.number
      AND c.connected_at IS NOT NULL
    ORDER BY 1
  ) AS previous_fleets,
  (
    SELECT json_build_object(
      '1', count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '1 days'),
      '7', count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '7 days'),
      '30', count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '30 days'),
      '90', count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '90 days')
    )
    FROM calls c
    WHERE c.company_id = {company_id} AND c.caller_number = asked.number
      AND c.created_at > {now}::timestamptz - interval '90 days'
  ) AS calls_last
`;

/** Columns of `FactsOfOffer`, for offer `o`. */
export const OFFER_COLUMNS = sql`
  json_build_object(
    'id', o.id,
    'name', o.name,
    'paused', o.paused,
    'greeting_message', o.greeting_message,
    'fallback_type', o.fallback_type,
    'fallback_message', o.fallback_message,
    'fallback_number', o.fallback_number,
    'abandoned_message', o.abandoned_message,
    'callback_behavior', o.callback_behavior,
    'skip_duplicates', o.skip_duplicates,
    'spacing_seconds', o.spacing_seconds,
    'payouts', o.payouts
  ) AS offer,
  coalesce((
    SELECT json_agg(json_build_object('id', s.id, 'name', s.name) ORDER BY s.id)
    FROM buyer_suppression_offers a
    JOIN buyer_suppressions s
      ON s.company_id = a.company_id AND s.id = a.buyer_suppression_id
      AND s.deleted_at IS NULL
    WHERE a.company_id = {company_id} AND a.offer_id = o.id
      AND EXISTS (
        SELECT FROM buyer_suppression_numbers n
        WHERE n.company_id = {company_id} AND n.buyer_suppression_id = s.id
          AND n.number = asked.number
      )
  ), '[]') AS suppressed_by,
  (
    SELECT json_build_object(
      'id', l.id,
      'data', l.data,
      'schedule_id', l.schedule_id,
      'traffic_source_id', l.traffic_source_id,
      'sub_id', l.sub_id,
      'contact_field_type', l.contact_field_type
    )
    FROM leads l
    WHERE l.company_id = {company_id} AND l.caller_number = asked.number
      -- Who wants to be contacted no more may still call.
      AND (l.is_live OR l.exit_reason = 'opted_out')
      AND l.deleted_at IS NULL AND l.offer_id = o.id
    ORDER BY l.is_live DESC, l.updated_at DESC, l.id DESC
    LIMIT 1
  ) AS lead,
  (
    SELECT c.buyer_id::float8
    FROM calls c
    WHERE c.company_id = {company_id} AND c.caller_number = asked.number
      AND c.offer_id = o.id AND c.connected_at IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
  ) AS previous_buyer_id,
  coalesce((
    SELECT json_agg(
      json_build_object('buyer_id', payment.buyer_id, 'pays_again_at', payment.pays_again_at)
    )
    FROM (
      SELECT
        v.buyer_id,
        max(v.created_at) + current.duplicate_timeframe * interval '1 second'
          AS pays_again_at
      FROM conversions v
      JOIN call_limits l ON l.company_id = v.company_id AND l.buyer_id = v.buyer_id,
      LATERAL (
        SELECT x.duplicate_timeframe
        FROM buyer_conversions x
        WHERE x.company_id = v.company_id AND x.buyer_id = v.buyer_id
          AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
        ORDER BY x.time_frame, x.position
        LIMIT 1
      ) current
      WHERE v.company_id = {company_id} AND v.caller_number = asked.number
        AND v.returned_at IS NULL
      GROUP BY v.buyer_id, current.duplicate_timeframe
    ) payment
    WHERE payment.pays_again_at > {now}::timestamptz
  ), '[]') AS paid,
  EXISTS (
    SELECT FROM contact_restrictions x
    WHERE x.company_id = {company_id} AND x.offer_id = o.id
      AND x.caller_number = asked.number AND x.blocked
  ) AS blocked_for_offer
`;

/** All data of a call that decide about it, except the buyers. */
export type CallFacts = Caller & FactsOfOffer;

export const OFFER_WORDS = statement(
  'routing.offer_words',
  sql`
    SELECT o.greeting_message, o.fallback_message, o.fallback_number, o.abandoned_message
    FROM offers o
    WHERE o.company_id = {company_id} AND o.id = {offer_id}::bigint AND o.deleted_at IS NULL
  `,
  { prepared: true },
);
