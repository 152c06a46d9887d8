import { OPEN_CONVERSIONS_JSON } from '../../money/queries/open-conversions';
import { sql, statement, type SqlText } from '../../../data/sql';
import { CALL_COLUMNS, IS_ROUTED, NULLABLE_OF_CALL, type CallJson } from './calls';

/**
 * Everything that decides the effect of events on calls, in one statement. `index` is the position
 * of the call in the arrays, from 1. `version` is that of the row of calls: every statement that
 * changes a call, or its attempts, slots or conversions, also writes this row.
 *
 * Payments are read for buyers that have the call, and, with `may_connect`, for buyers that may get
 * it by this event; after the end for buyers that a late report may still say had it.
 */
const COLUMNS = sql`
      asked.index::int AS index,
      ${CALL_COLUMNS},
      c.xmin::text AS version,
      c.payout::float8 AS payout, c.revenue::float8 AS revenue, c.traffic_source_converted,
      c.buyer_repeat_caller, c.traffic_source_repeat_caller,
      coalesce(o.payouts, '[]') AS payouts,
      coalesce((
        SELECT s.payouts
        FROM traffic_sources s
        WHERE s.company_id = c.company_id AND s.id = c.traffic_source_id
      ), '[]') AS source_payouts,
      CASE
        WHEN c.fallback <> 'hang_up' AND o.deleted_at IS NULL THEN json_build_object(
          'fallback_message', o.fallback_message,
          'fallback_number', o.fallback_number,
          'abandoned_message', o.abandoned_message
        )
      END AS words,
      dialed.attempts,
      coalesce(paid.by_buyer, '[]') AS paid,
      coalesce(paid.is_returned, false) AS is_returned,
      coalesce(past.is_payout_returned, false) AS is_payout_returned,
      coalesce(past.unbilled, '[]') AS unbilled,
      coalesce(past.key_presses, '[]') AS key_presses`;

const PARTS = sql`
    LEFT JOIN offers o ON o.company_id = c.company_id AND o.id = c.offer_id
    CROSS JOIN LATERAL (
      SELECT
        coalesce(
          json_agg(
            json_build_object(
              'uuid', a.uuid,
              'status', a.status,
              'press_one_to_accept', a.press_one_to_accept,
              'round', a.round,
              'buyer_id', a.buyer_id,
              'buyer_group_id', a.buyer_group_id,
              'created_at', a.created_at,
              'connected_at', a.connected_at,
              'dial', a.dial,
              'routes', a.routes,
              'trunk_id', a.trunk_id,
              'failed_trunk_ids', a.failed_trunk_ids,
              'bid', CASE WHEN a.bid IS NOT NULL
                THEN json_build_object('amount', a.bid, 'duration', a.bid_duration) END,
              'token_pairs', CASE WHEN money.is_due THEN (
                SELECT b.record_token_additional_data
                FROM buyers b
                WHERE b.company_id = a.company_id AND b.id = a.buyer_id
              ) END,
              'conversions', CASE WHEN money.is_due THEN (
                SELECT (${OPEN_CONVERSIONS_JSON}
                )
                FROM (SELECT a.buyer_id, a.created_at AS at) wanted
              ) END
            )
            ORDER BY a.id
          ),
          '[]'
        ) AS attempts
      FROM call_attempts a
      CROSS JOIN LATERAL (
        SELECT
          a.connected_at IS NOT NULL
          OR (asked.may_connect AND a.status IN ('ringing', 'answered'))
          OR (c.ended_at IS NOT NULL AND a.status = 'canceled') AS is_due
      ) money
      WHERE a.company_id = c.company_id AND a.call_id = c.id
    ) dialed
    CROSS JOIN LATERAL (
      SELECT
        json_agg(json_build_object('buyer_id', v.buyer_id, 'revenue', v.revenue))
          FILTER (WHERE v.returned_at IS NULL) AS by_buyer,
        bool_or(v.returned_at IS NOT NULL) AS is_returned
      FROM conversions v
      WHERE v.company_id = c.company_id AND v.call_id = c.id
    ) paid
    CROSS JOIN LATERAL (
      SELECT
        bool_or(e.event = 'payout_returned') AS is_payout_returned,
        json_agg(json_build_object('buyer_id', e.buyer_id, 'reason', e.details->>'reason'))
          FILTER (WHERE e.event = 'not_converted') AS unbilled,
        json_agg(json_build_object('id', e.id, 'digits', e.details->>'digits') ORDER BY e.id)
          FILTER (WHERE e.event = 'send_digits') AS key_presses
      FROM call_events e
      WHERE e.company_id = c.company_id AND e.call_id = c.id
    ) past
    WHERE ${IS_ROUTED}`;

const OPTIONS = { prepared: true, nullable: [...NULLABLE_OF_CALL, 'words'] };

/** `match` finds the row of a call by its value. */
const readStates = (values: SqlText, match: SqlText) => sql`
    SELECT
      ${COLUMNS}
    FROM unnest(${values}, {may_connect}::boolean[])
      WITH ORDINALITY AS asked(value, may_connect, index)
    JOIN calls c ON c.company_id = {company_id} AND ${match}
    ${PARTS}`;

export const READ_CALL_STATES = {
  id: statement(
    'calls.read_states_by_id',
    readStates(sql`{values}::bigint[]`, sql`c.id = asked.value`),
    OPTIONS,
  ).returning<CallJson>(),
  uuid: statement(
    'calls.read_states_by_uuid',
    readStates(sql`{values}::uuid[]`, sql`c.uuid = asked.value`),
    OPTIONS,
  ).returning<CallJson>(),
  sid: statement(
    'calls.read_states_by_sid',
    readStates(
      sql`{values}::text[]`,
      sql`c.carrier = 'softswitch' AND c.carrier_call_id = asked.value`,
    ),
    OPTIONS,
  ).returning<CallJson>(),
};
