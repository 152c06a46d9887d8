import { sql, statement } from '../../../data/sql';
import { OLD_AND_NEW, RECORD_CALL_CHANGE } from './record-call';

// Costs that carriers charge for calls. A row of call_cost_looks is a call whose cost is not known
// yet; queue_call_cost() of the database inserts it at the end of the call.

/** A repeated price replaces the one before. The carrier is asked about the other legs at once. */
export const SAVE_LEG_PRICE = statement(
  'calls.save_leg_price',
  sql`
    WITH call AS (
      SELECT c.company_id, c.id
      FROM calls c
      WHERE c.company_id = {company_id}
        AND c.id = {call_id}::bigint
        AND c.provider_cost IS NULL
    ),
    price AS (
      INSERT INTO call_leg_prices (
        company_id, call_id, carrier_call_id, price, currency, created_at
      )
      SELECT
        call.company_id, call.id, {leg_id}, {price}::numeric, {currency}, {now}::timestamptz
      FROM call
      ON CONFLICT (company_id, call_id, carrier_call_id) DO UPDATE
      SET price = excluded.price, currency = excluded.currency
      RETURNING company_id, call_id
    )
    INSERT INTO call_cost_looks AS l (company_id, call_id, due_at)
    SELECT price.company_id, price.call_id, {now}::timestamptz
    FROM price
    JOIN calls c ON c.company_id = price.company_id AND c.id = price.call_id
    WHERE c.ended_at IS NOT NULL
    ON CONFLICT (company_id, call_id) DO UPDATE SET due_at = least(l.due_at, excluded.due_at)`,
  { prepared: false },
);

/** Claims calls whose carrier is to be asked, of all companies; no other process gets them. */
export const CLAIM_COST_LOOKS = statement(
  'calls.claim_cost_looks',
  sql`
    WITH due AS (
      SELECT l.company_id, l.id
      FROM call_cost_looks l
      WHERE l.due_at <= {now}::timestamptz
      ORDER BY l.due_at
      LIMIT {limit}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE call_cost_looks l
    SET due_at = {lease_until}::timestamptz, tries = l.tries + 1
    FROM due, calls c
    WHERE l.company_id = due.company_id
      AND l.id = due.id
      AND c.company_id = l.company_id
      AND c.id = l.call_id
    RETURNING l.company_id::text AS company_id, l.call_id::float8 AS call_id, l.tries, c.carrier,
      c.carrier_call_id`,
  { prepared: true },
);

export const LOCK_COST_LOOK = statement(
  'calls.lock_cost_look',
  sql`
    SELECT l.id
    FROM call_cost_looks l
    WHERE l.company_id = {company_id} AND l.call_id = {call_id}::bigint
    FOR UPDATE`,
  { prepared: false },
);

/**
 * Sum of the costs of all legs of a call, as far as they are known: of the legs that the carrier
 * names, or without its answer of those that its reports have named.
 */
export const SUM_LEGS = statement(
  'calls.sum_legs',
  sql`
    WITH named AS (
      SELECT x.carrier_call_id, x.cost, x.currency
      FROM json_to_recordset({legs}::json)
        AS x(carrier_call_id text, cost numeric, currency text)
      UNION ALL
      SELECT c.carrier_call_id, NULL, NULL
      FROM calls c
      WHERE NOT {is_asked}::boolean
        AND c.company_id = {company_id}
        AND c.id = {call_id}::bigint
      UNION ALL
      SELECT DISTINCT e.details->>'leg_sid', NULL::numeric, NULL
      FROM call_events e
      WHERE NOT {is_asked}::boolean
        AND e.company_id = {company_id}
        AND e.call_id = {call_id}::bigint
        AND e.details->>'leg_sid' IS NOT NULL
    )
    SELECT
      round(sum(coalesce(n.cost, -p.price)), 4)::text AS cost,
      coalesce(bool_and(coalesce(n.cost, -p.price) IS NOT NULL), false) AS is_complete,
      coalesce(
        bool_and(CASE WHEN n.cost IS NULL THEN p.currency ELSE n.currency END = 'USD'),
        false
      ) AS is_in_dollars
    FROM named n
    LEFT JOIN call_leg_prices p
      ON p.company_id = {company_id}
      AND p.call_id = {call_id}::bigint
      AND p.carrier_call_id = n.carrier_call_id`,
  { prepared: false, nullable: ['cost'] },
);

export const SAVE_PROVIDER_COST = statement(
  'calls.save_provider_cost',
  sql`
    WITH was AS (
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id}
        AND c.id = {call_id}::bigint
        AND c.provider_cost IS NULL
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET provider_cost = {cost}::numeric, updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING ${OLD_AND_NEW}
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: false, records: true },
);

/** The row of call_cost_looks must be locked. */
export const END_COST_LOOK = statement(
  'calls.end_cost_look',
  sql`
    DELETE FROM call_cost_looks
    WHERE company_id = {company_id} AND call_id = {call_id}::bigint`,
  { prepared: false },
);

export const POSTPONE_COST_LOOK = statement(
  'calls.postpone_cost_look',
  sql`
    UPDATE call_cost_looks
    SET due_at = {due_at}::timestamptz
    WHERE company_id = {company_id} AND call_id = {call_id}::bigint`,
  { prepared: false },
);
