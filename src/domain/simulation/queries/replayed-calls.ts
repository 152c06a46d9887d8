import { sql, statement } from '../../../data/sql';
import type { CallSource } from '../../routing/engine/source';
import type { DecidedBid } from '../../routing/engine/bids';

// Calls that a simulation replays, and their results: only read, never locked.

/** The inbound calls of an offer in a period that have ended. */
const IN_PERIOD = sql`
  c.company_id = {company_id} AND c.offer_id = {offer_id}::bigint AND c.direction = 'inbound'
  AND c.deleted_at IS NULL AND c.ended_at IS NOT NULL
  AND c.created_at >= {from}::timestamptz AND c.created_at < {to}::timestamptz
`;

/** Counted up to `most`. */
export const COUNT_CALLS = statement(
  'routing.count_calls',
  sql`
    SELECT count(*)::int AS n
    FROM (SELECT FROM calls c WHERE ${IN_PERIOD} LIMIT {most}::int) counted
  `,
  { prepared: false, search: true },
);

interface AttemptJson {
  buyer_id: number;
  status: string;
  /** Seconds. */
  rang: number;
  connected: boolean;
  revenue: number | null;
}

/**
 * A page of calls in the order in which they came in, with their attempts. `tokens` adds their
 * tokens, `history` the earlier calls of the caller.
 */
export const PAST_CALLS = statement(
  'routing.past_calls',
  sql`
    SELECT
      c.id::float8 AS id,
      c.created_at AS at,
      c.caller_number::float8 AS caller_number,
      c.traffic_source_id::float8 AS traffic_source_id,
      (
        SELECT s.user_traffic_source_id
        FROM traffic_sources s
        WHERE s.company_id = c.company_id AND s.id = c.traffic_source_id
      ) AS user_traffic_source_id,
      (
        SELECT json_build_object(
          'id', s.id,
          'paused', s.paused,
          'blocked_buyer_ids', s.blocked_buyer_ids,
          'allowed_buyer_ids', s.allowed_buyer_ids,
          'payouts', s.payouts
        )
        FROM traffic_sources s
        WHERE s.company_id = c.company_id AND s.id = c.traffic_source_id
      ) AS source,
      c.sub_id,
      c.to_number::float8 AS number_called,
      c.caller_city,
      c.caller_state,
      c.caller_zip,
      c.caller_country,
      c.carrier,
      c.payout::float8 AS payout,
      c.buyer_id::float8 AS buyer_id,
      c.buyer_repeat_caller AS repeat_caller,
      CASE WHEN {tokens}::boolean THEN c.token_values END AS token_values,
      CASE WHEN c.connected_at IS NOT NULL THEN coalesce(c.answered_duration, 0) END AS talked,
      CASE
        WHEN c.connected_at IS NULL AND EXISTS (
          SELECT FROM call_attempts a
          WHERE a.company_id = c.company_id AND a.call_id = c.id AND a.status = 'canceled'
        ) THEN extract(epoch FROM c.ended_at - c.created_at)::float8
      END AS gave_up_after,
      ARRAY(
        SELECT d.decision->>'seed'
        FROM call_decisions d
        WHERE d.company_id = c.company_id AND d.call_id = c.id
        ORDER BY d.round
      ) AS seeds,
      coalesce((
        SELECT json_agg(x.bid ORDER BY d.round)
        FROM call_decisions d
        CROSS JOIN LATERAL json_array_elements(d.decision->'bids') x(bid)
        WHERE d.company_id = c.company_id AND d.call_id = c.id
      ), '[]') AS bids,
      coalesce((
        SELECT json_agg(
          json_build_object(
            'buyer_id', a.buyer_id,
            'status', a.status,
            'connected', a.connected_at IS NOT NULL,
            'revenue', v.revenue,
            'rang', extract(
              epoch FROM coalesce(a.connected_at, a.ended_at, c.ended_at) - a.created_at
            )
          )
          ORDER BY a.id
        )
        FROM call_attempts a
        LEFT JOIN conversions v
          ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
          AND v.returned_at IS NULL
        WHERE a.company_id = c.company_id AND a.call_id = c.id
      ), '[]') AS attempts,
      CASE WHEN {history}::boolean THEN (
        SELECT json_build_object(
          '1', count(*) FILTER (WHERE p.created_at > c.created_at - interval '1 days'),
          '7', count(*) FILTER (WHERE p.created_at > c.created_at - interval '7 days'),
          '30', count(*) FILTER (WHERE p.created_at > c.created_at - interval '30 days'),
          '90', count(*) FILTER (WHERE p.created_at > c.created_at - interval '90 days')
        )
        FROM calls p
        WHERE p.company_id = c.company_id AND p.caller_number = c.caller_number AND p.id < c.id
          AND p.created_at > c.created_at - interval '90 days'
      ) END AS calls_last,
      CASE WHEN {history}::boolean THEN ARRAY(
        SELECT DISTINCT f.user_fleet_id
        FROM calls p
        JOIN buyers b ON b.company_id = p.company_id AND b.id = p.buyer_id
        JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
        WHERE p.company_id = c.company_id AND p.caller_number = c.caller_number AND p.id < c.id
          AND p.connected_at IS NOT NULL
        ORDER BY 1
      ) END AS previous_fleets
    FROM calls c
    WHERE ${IN_PERIOD} AND (c.created_at, c.id) > ({after_at}::timestamptz, {after_id}::bigint)
    ORDER BY c.created_at, c.id
    LIMIT {page}::int
  `,
  {
    prepared: false,
    search: true,
    nullable: [
      'caller_number',
      'traffic_source_id',
      'user_traffic_source_id',
      'number_called',
      'buyer_id',
      'talked',
      'gave_up_after',
      'previous_fleets',
    ],
  },
).returning<{
  id: number;
  at: Date;
  payout: number;
  source: Omit<CallSource, 'limits'> | null;
  repeat_caller: boolean;
  bids: Omit<DecidedBid, 'net_bid' | 'kept'>[];
  token_values: Record<string, unknown> | null;
  seeds: string[];
  attempts: AttemptJson[];
  calls_last: Record<1 | 7 | 30 | 90, number> | null;
}>();

/**
 * Results of attempts by buyer, for attempts with a known answer. `rang` is the sum of seconds
 * until the buyer took the call.
 */
export const OBSERVED_ATTEMPTS = statement(
  'routing.observed_attempts',
  sql`
    SELECT
      a.buyer_id::float8 AS buyer_id,
      count(*)::int AS attempts,
      count(a.connected_at)::int AS connects,
      count(v.id) FILTER (WHERE a.connected_at IS NOT NULL)::int AS conversions,
      coalesce(sum(extract(epoch FROM a.connected_at - a.created_at)), 0)::float8 AS rang
    FROM (SELECT c.id, c.company_id FROM calls c WHERE ${IN_PERIOD}) c
    JOIN call_attempts a ON a.company_id = c.company_id AND a.call_id = c.id
    LEFT JOIN conversions v
      ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
      AND v.returned_at IS NULL
    WHERE a.connected_at IS NOT NULL
      OR a.status IN ('no_answer', 'busy', 'failed', 'declined')
    GROUP BY 1
  `,
  { prepared: false, search: true },
);

/** Seconds that calls lasted: a hundred quantiles, from the shortest; empty without calls. */
export const TALK_DURATIONS = statement(
  'routing.talk_durations',
  sql`
    SELECT
      coalesce(
        percentile_disc(ARRAY(SELECT n / 200.0 FROM generate_series(1, 199, 2) n))
          WITHIN GROUP (ORDER BY c.answered_duration),
        '{}'
      ) AS talked
    FROM (
      SELECT c.answered_duration
      FROM calls c
      WHERE ${IN_PERIOD} AND c.connected_at IS NOT NULL AND c.answered_duration IS NOT NULL
    ) c
  `,
  { prepared: false, search: true },
);

/** Facts of callers by their numbers: lists as they are now, calls before `from`. */
export const CALLERS = statement(
  'routing.callers',
  sql`
    SELECT
      coalesce((
        SELECT json_agg(k.caller_number)
        FROM (
          SELECT c.caller_number
          FROM contacts c
          WHERE c.company_id = {company_id} AND c.caller_number = ANY({numbers}::bigint[])
            AND c.blocked
          UNION
          SELECT x.caller_number
          FROM contact_restrictions x
          WHERE x.company_id = {company_id} AND x.caller_number = ANY({numbers}::bigint[])
            AND x.offer_id = {offer_id}::bigint AND x.blocked
        ) k
      ), '[]') AS blacklisted,
      coalesce((
        SELECT json_agg(
          json_build_object(
            'id', s.id,
            'name', s.name,
            'numbers', n.numbers,
            'of_offer', EXISTS (
              SELECT FROM buyer_suppression_offers a
              WHERE a.company_id = s.company_id AND a.buyer_suppression_id = s.id
                AND a.offer_id = {offer_id}::bigint
            ),
            'buyer_ids', ARRAY(
              SELECT a.buyer_id
              FROM buyer_suppression_buyers a
              WHERE a.company_id = s.company_id AND a.buyer_suppression_id = s.id
                AND a.buyer_id = ANY({buyer_ids}::bigint[])
            )
          )
          ORDER BY s.id
        )
        FROM buyer_suppressions s,
        LATERAL (
          SELECT array_agg(n.number) AS numbers
          FROM buyer_suppression_numbers n
          WHERE n.company_id = s.company_id AND n.buyer_suppression_id = s.id
            AND n.number = ANY({numbers}::bigint[])
        ) n
        WHERE s.company_id = {company_id} AND s.deleted_at IS NULL AND s.blocked > 0
          AND n.numbers IS NOT NULL
      ), '[]') AS lists,
      coalesce((
        SELECT json_agg(json_build_object('number', p.caller_number, 'buyer_id', p.buyer_id))
        FROM (
          SELECT DISTINCT ON (c.caller_number) c.caller_number, c.buyer_id
          FROM calls c
          WHERE c.company_id = {company_id} AND c.caller_number = ANY({numbers}::bigint[])
            AND c.offer_id = {offer_id}::bigint AND c.connected_at IS NOT NULL
            AND c.created_at < {from}::timestamptz
          ORDER BY c.caller_number, c.id DESC
        ) p
      ), '[]') AS previous,
      coalesce((
        SELECT json_agg(
          json_build_object('number', p.caller_number, 'buyer_id', p.buyer_id, 'at', p.at)
        )
        FROM (
          SELECT v.caller_number, v.buyer_id, max(v.created_at) AS at
          FROM conversions v
          WHERE v.company_id = {company_id} AND v.caller_number = ANY({numbers}::bigint[])
            AND v.buyer_id = ANY({buyer_ids}::bigint[]) AND v.created_at < {from}::timestamptz
            AND v.returned_at IS NULL
          GROUP BY 1, 2
        ) p
      ), '[]') AS paid
  `,
  { prepared: false, search: true },
).returning<{
  blacklisted: number[];
  lists: { id: number; name: string; numbers: number[]; buyer_ids: number[]; of_offer: boolean }[];
  /** The buyer that each number was last connected to. */
  previous: { number: number; buyer_id: number }[];
  paid: { number: number; buyer_id: number; at: string }[];
}>();
