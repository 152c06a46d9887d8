import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

const OF_CALLS = sql`company_id = {company_id} AND call_id = ANY ({ids}::bigint[])`;

export const LOCK_CALLS = statement(
  'retention.lock_calls',
  sql`
    SELECT id FROM calls
    WHERE company_id = {company_id} AND id = ANY ({ids}::bigint[])
    ORDER BY id
    FOR UPDATE
  `,
  { prepared: false },
);

/** Deletes the parts of calls, and removes the calls from other records. */
export const DELETE_PARTS_OF_CALLS = statement(
  'retention.delete_parts_of_calls',
  sql`
    WITH events AS (DELETE FROM call_events WHERE ${OF_CALLS}),
    decisions AS (DELETE FROM call_decisions WHERE ${OF_CALLS}),
    attempts AS (DELETE FROM call_attempts WHERE ${OF_CALLS}),
    slots AS (DELETE FROM call_slots WHERE ${OF_CALLS}),
    prices AS (DELETE FROM call_leg_prices WHERE ${OF_CALLS}),
    looks AS (DELETE FROM call_cost_looks WHERE ${OF_CALLS}),
    news AS (DELETE FROM lead_calls WHERE ${OF_CALLS}),
    schedule_news AS (DELETE FROM schedule_events WHERE ${OF_CALLS}),
    pings AS (UPDATE pings SET call_id = NULL WHERE ${OF_CALLS}),
    fires AS (
      UPDATE webhook_manual_fires SET call_id = NULL, buyer_conversion_id = NULL
      WHERE company_id = {company_id}
        AND (
          call_id = ANY ({ids}::bigint[])
          OR buyer_conversion_id IN (SELECT id FROM conversions WHERE ${OF_CALLS})
        )
    )
    SELECT count(*)::int AS conversions FROM conversions WHERE ${OF_CALLS}
  `,
  { prepared: false },
);

export const DELETE_CONVERSIONS = statement(
  'retention.delete_conversions',
  sql`
    WITH deleted AS (DELETE FROM conversions WHERE ${OF_CALLS} RETURNING id)
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);

export const DELETE_CALLS = statement(
  'retention.delete_calls',
  sql`
    WITH deleted AS (
      DELETE FROM calls c
      WHERE c.company_id = {company_id} AND c.id = ANY ({ids}::bigint[])
      RETURNING c.company_id, c AS was
    ),
    counted AS (${countRows('calls', 'deleted', -1)})
    SELECT record_deleted_call(deleted.was) AS is_recorded FROM deleted
  `,
  { prepared: false, records: true },
);
