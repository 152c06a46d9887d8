import { PAYOUT_ENTRY, REVENUE_ENTRY } from '../../money/queries/call-entries';
import { sql, statement } from '../../../data/sql';
import { RECORD_CHANGE } from '../../leads/queries/record-leads';
import { OLD_AND_NEW, CALL_BEFORE, RECORD_CALL_CHANGE } from './record-call';

export const FIND_CALL = {
  id: statement(
    'calls.find_by_id',
    sql`
    SELECT c.id::text AS id, c.direction, c.lead_id::text AS lead_id,
      c.routed OR c.machine_action IS NOT NULL AS asks_us
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {value}::bigint AND c.deleted_at IS NULL`,
    { prepared: true, nullable: ['lead_id'] },
  ),
  uuid: statement(
    'calls.find_by_uuid',
    sql`
    SELECT c.id::text AS id, c.direction, c.lead_id::text AS lead_id,
      c.routed OR c.machine_action IS NOT NULL AS asks_us
    FROM calls c
    WHERE c.company_id = {company_id} AND c.uuid = {value}::uuid AND c.deleted_at IS NULL`,
    { prepared: true, nullable: ['lead_id'] },
  ),
};

export const LOCK_LEAD = statement(
  'calls.lock_lead',
  sql`
    SELECT l.id
    FROM leads l
    WHERE l.company_id = {company_id} AND l.id = {lead_id}::bigint
    FOR NO KEY UPDATE`,
  { prepared: true },
);

export const LOCK_CALL_ROW = statement(
  'calls.lock_row',
  sql`
    SELECT c.id
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {id}::bigint
    FOR UPDATE`,
  { prepared: true },
);

export const READ_EDITABLE_CALL = statement(
  'calls.read_editable_call',
  sql`
    SELECT
      c.id::float8 AS id, c.uuid::text AS uuid, c.direction, c.routed, c.status, c.carrier,
      c.carrier_call_id, c.lead_id::float8 AS lead_id, c.buyer_id::float8 AS buyer_id,
      c.traffic_source_id::float8 AS traffic_source_id,
      a.buyer_group_id::float8 AS buyer_group_id, c.revenue::float8 AS revenue,
      c.payout::float8 AS payout, c.buyer_converted, c.traffic_source_converted,
      c.token_values, c.connected_at, c.ended_at, c.answered_duration,
      coalesce(
        (
          SELECT sum(v.revenue)
          FROM conversions v
          WHERE v.company_id = c.company_id
            AND v.call_id = c.id
            AND v.buyer_id IS DISTINCT FROM c.buyer_id
            AND v.returned_at IS NULL
        ),
        0
      )::float8 AS others_revenue
    FROM calls c
    LEFT JOIN call_attempts a
      ON a.company_id = c.company_id AND a.call_id = c.id AND a.buyer_id = c.buyer_id
    WHERE c.company_id = {company_id} AND c.id = {id}::bigint`,
  { prepared: true, nullable: ['lead_id', 'buyer_id', 'buyer_group_id', 'traffic_source_id'] },
).returning<{
  direction: 'inbound' | 'outbound';
  routed: boolean;
  status: string;
  carrier: string;
  buyer_converted: boolean;
  traffic_source_converted: boolean;
  token_values: Record<string, unknown>;
}>();

export const ADD_TOKENS = statement(
  'calls.add_tokens',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    call AS (
      UPDATE calls c
      SET
        token_values = c.token_values || {tokens}::jsonb,
        updated_at = {now}::timestamptz,
        user_updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING ${OLD_AND_NEW}
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: true, records: true },
);

const LEAD_WAS = sql`
    held AS MATERIALIZED (
      SELECT w AS was, w.id
      FROM call
      JOIN leads w ON w.company_id = {company_id} AND w.id = call.lead_id
      FOR NO KEY UPDATE OF w
    )`;

/** The caps of the buyer were changed before, in the same transaction. */
export const ADD_REVENUE = statement(
  'calls.add_revenue',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    call AS (
      UPDATE calls c
      SET
        revenue = c.revenue + {amount}::numeric,
        buyer_revenue = c.buyer_revenue + {amount}::numeric,
        updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING c.id, c.lead_id, ${OLD_AND_NEW}
    ),
    entry AS (${REVENUE_ENTRY}
    ),
    conversion AS (
      UPDATE conversions
      SET revenue = revenue + {amount}::numeric
      WHERE company_id = {company_id}
        AND call_id = {call_id}::bigint
        AND buyer_id = {buyer_id}::bigint
        AND returned_at IS NULL
    ),
    ${LEAD_WAS},
    lead AS (
      UPDATE leads l
      SET revenue = l.revenue + {amount}::numeric, updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    ),
    lead_recorded AS MATERIALIZED (
      SELECT ${RECORD_CHANGE}
      FROM lead x
    ),
    warned AS MATERIALIZED (
      SELECT record_low_balance(
          {company_id}::bigint, b.buyer_id, b.balance, b.credit_limit, b.balance_low_limit
        )
      FROM call_limits b
      WHERE b.company_id = {company_id}
        AND b.buyer_id = {buyer_id}::bigint
        AND b.balance < b.balance_low_limit
        AND b.balance + {amount}::numeric >= b.balance_low_limit
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call, (SELECT count(*) AS n FROM lead_recorded) lead,
      (SELECT count(*) AS n FROM warned) warned
    WHERE lead.n >= 0 AND warned.n >= 0`,
  { prepared: true, records: true },
);

/** `converts`: the source counts as paid even if the amount is 0. */
export const ADD_PAYOUT = statement(
  'calls.add_payout',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    call AS (
      UPDATE calls c
      SET
        payout = c.payout + {amount}::numeric,
        traffic_source_converted =
          c.traffic_source_converted OR {converts}::boolean OR c.payout + {amount}::numeric > 0,
        updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING c.id, c.lead_id, c.traffic_source_id, ${OLD_AND_NEW}
    ),
    entry AS (${PAYOUT_ENTRY}
    ),
    conversion AS (
      UPDATE conversions
      SET payout = payout + {amount}::numeric
      WHERE company_id = {company_id}
        AND call_id = {call_id}::bigint
        AND buyer_id = {buyer_id}::bigint
        AND returned_at IS NULL
    ),
    ${LEAD_WAS},
    lead AS (
      UPDATE leads l
      SET
        payout = l.payout + {amount}::numeric,
        offer_converted =
          l.offer_converted OR {converts}::boolean OR l.payout + {amount}::numeric > 0,
        updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    ),
    lead_recorded AS MATERIALIZED (
      SELECT ${RECORD_CHANGE}
      FROM lead x
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call, (SELECT count(*) AS n FROM lead_recorded) lead
    WHERE lead.n >= 0`,
  { prepared: true, records: true },
);

export const SAVE_RECORDING = statement(
  'calls.save_recording',
  sql`
    WITH was AS (
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id}
        AND c.id = {call_id}::bigint
        AND c.recording_url IS NULL
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET recording_url = {recording_url}, updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING ${OLD_AND_NEW}
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: true, records: true },
);
