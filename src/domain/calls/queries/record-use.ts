import { USAGE_ENTRIES } from '../../money/queries/call-entries';
import { USE_OF_ROW } from '../../caps/queries/cap-use';
import { IS_LIMITED } from '../../caps/queries/cap-limits';
import { sql, statement } from '../../../data/sql';
import { RECORD_CHANGE, recordExit } from '../../leads/queries/record-leads';
import { AGENT_OF_BUYER } from './describe-call';
import { OLD_AND_NEW, INSERT_EVENTS, RECORD_CALL_CHANGE } from './record-call';
import {
  CALL_EFFECTS,
  RELEASED_RESERVATIONS,
  IS_UNCHANGED,
  PROGRESS_OF_CALL,
  RECORD_ANSWERS,
  SLOTS_OF_CALL,
} from './record-progress';

// Writes what record-progress.ts writes, and the use and payment of the buyer that has the call.

/**
 * Locks the call and the caps that change: those that get back reservations, and those that the
 * buyer that has the call, its group and the source have used. Then checks again what the dollars
 * depend on: calls of the same caller may have been paid for while this waited.
 */
const LOCK_AND_CHECK = sql`
    state AS (
      SELECT c.id, c.caller_number, c.offer_id, c.traffic_source_id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint AND ${IS_UNCHANGED}
      FOR NO KEY UPDATE
    ),
    held AS (${SLOTS_OF_CALL}
    ),
    given AS (${RELEASED_RESERVATIONS}
    ),
    changing AS (
      SELECT g.call_limit_id AS id
      FROM given g
      WHERE g.is_released OR g.connections <> 0 OR g.conversions <> 0 OR g.revenue <> 0
      UNION
      SELECT l.id
      FROM state, call_limits l
      WHERE {has_use}::boolean AND l.company_id = {company_id} AND l.buyer_id = {owner_id}::bigint
      UNION
      SELECT l.id
      FROM state, call_limits l
      WHERE {has_use}::boolean
        AND l.company_id = {company_id}
        AND l.buyer_group_id = {owner_group_id}::bigint
      UNION
      SELECT l.id
      FROM state, call_limits l
      WHERE {has_use}::boolean
        AND l.company_id = {company_id}
        AND l.traffic_source_id = state.traffic_source_id
        AND ${IS_LIMITED}
    ),
    locked AS (
      SELECT
        l.id,
        l.traffic_source_id IS NOT NULL AS is_source,
        coalesce(
          l.buyer_id = {owner_id}::bigint OR l.buyer_group_id = {owner_group_id}::bigint,
          false
        ) OR l.traffic_source_id IS NOT NULL AS has_call
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.id IN (SELECT id FROM changing)
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
      FOR NO KEY UPDATE
    ),
    checked AS MATERIALIZED (
      SELECT
        {buyer_seconds}::int > 0
          AND state.caller_number IS NOT NULL
          AND has_buyer_paid(
            {company_id}, {owner_id}::bigint, state.caller_number,
            {now}::timestamptz - {buyer_seconds}::int * interval '1 second'
          ) AS buyer_paid,
        {source_seconds}::int > 0
          AND state.caller_number IS NOT NULL
          AND was_source_paid(
            {company_id}, state.offer_id, state.caller_number, state.id,
            {now}::timestamptz - {source_seconds}::int * interval '1 second'
          ) AS source_paid
      -- The count is there so that all caps are locked first.
      FROM state, (SELECT count(*) AS n FROM locked) caps
      WHERE caps.n >= 0
    )`;

const UPDATE_CALL = sql`
      UPDATE calls c
      SET ${PROGRESS_OF_CALL},
        agent_id = CASE
          WHEN {agent_id}::bigint IS NOT NULL THEN {agent_id}::bigint
          WHEN {takes_agent}::boolean AND c.agent_id IS NULL THEN (${AGENT_OF_BUYER})
          ELSE c.agent_id
        END,
        token_values = CASE
          WHEN {tokens}::jsonb IS NULL THEN c.token_values
          ELSE c.token_values || {tokens}::jsonb
        END,
        revenue = c.revenue + {revenue}::numeric,
        buyer_revenue = c.buyer_revenue + {revenue}::numeric,
        payout = c.payout + {payout}::numeric,
        buyer_converted = c.buyer_converted OR {buyer_conversion}::int > 0,
        traffic_source_converted = c.traffic_source_converted OR {pays_source}::boolean,
        buyer_repeat_caller = c.buyer_repeat_caller OR {buyer_paid}::boolean,
        traffic_source_repeat_caller =
          c.traffic_source_repeat_caller OR {source_paid}::boolean
      FROM checked, state was
      WHERE c.company_id = {company_id}
        AND c.id = was.id
        AND checked.buyer_paid = {buyer_paid}::boolean
        AND checked.source_paid = {source_paid}::boolean
      RETURNING
        c.id, c.lead_id, c.direction, c.caller_number, c.payout, c.traffic_source_id,
        ${OLD_AND_NEW}`;

const CHANGE_CALL = sql`
    ${LOCK_AND_CHECK},
    call AS (${UPDATE_CALL}
    ),
    ${CALL_EFFECTS},
    slots AS (
      UPDATE call_slots s
      SET
        lease_until = coalesce({lease_until}::timestamptz, s.lease_until),
        connections = s.connections - given.connections,
        conversions = s.conversions - given.conversions,
        revenue = s.revenue - given.revenue
      FROM call, given
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND s.call_limit_id = given.call_limit_id
        AND NOT given.is_released
    ),
    used AS (
      SELECT
        locked.id,
        CASE WHEN locked.has_call THEN {connection}::int ELSE 0 END AS connection,
        CASE
          -- Of a source, a call converts that it is paid for.
          WHEN locked.is_source THEN {pays_source}::boolean::int
          WHEN locked.has_call THEN {buyer_conversion}::int
          ELSE 0
        END AS buyer_conversion,
        CASE WHEN locked.has_call THEN {revenue}::numeric ELSE 0 END AS revenue,
        CASE WHEN locked.has_call THEN {revenue}::numeric - {payout}::numeric ELSE 0 END
          AS earned_revenue,
        coalesce(given.connections, 0) AS given_connections,
        coalesce(given.conversions, 0) AS given_conversions,
        coalesce(given.revenue, 0) AS given_revenue,
        coalesce(given.is_released, false)::int AS given_slots
      FROM call, locked
      LEFT JOIN given ON given.call_limit_id = locked.id
    ),
    caps AS (
      UPDATE call_limits l
      SET ${USE_OF_ROW}
      FROM used x
      WHERE l.company_id = {company_id} AND l.id = x.id
      RETURNING l.buyer_id, l.balance, l.credit_limit, l.balance_low_limit, x.revenue
    ),
    entries AS (${USAGE_ENTRIES}
    ),
    warned AS MATERIALIZED (
      SELECT record_low_balance(
          {company_id}::bigint, b.buyer_id, b.balance, b.credit_limit, b.balance_low_limit
        )
      FROM caps b
      WHERE b.balance < b.balance_low_limit AND b.balance + b.revenue >= b.balance_low_limit
    )`;

/** Recording the call reads its conversions and its lead: these are written first. */
const RECORD_CALL = sql`
    recorded AS MATERIALIZED (
      SELECT call.id, ${RECORD_CALL_CHANGE}
      FROM call, (SELECT count(*) AS n FROM conversion) v,
        (SELECT count(*) AS n FROM lead_recorded) l,
        (SELECT count(*) AS n FROM warned) w
      WHERE v.n >= 0 AND l.n >= 0 AND w.n >= 0
    ),
    ${RECORD_ANSWERS}`;

const OUTCOME = sql`
    SELECT
      EXISTS (SELECT FROM recorded) AS is_written, checked.buyer_paid, checked.source_paid
    FROM checked, (SELECT count(*) AS n FROM answered) answered`;

/** Locked after the call and the caps. */
const LEAD_WAS = sql`
    lead_was AS MATERIALIZED (
      SELECT w AS was, w.id
      FROM call
      JOIN leads w ON w.company_id = {company_id} AND w.id = call.lead_id
      FOR NO KEY UPDATE OF w
    )`;

const COLUMNS_OF_LEAD = sql`
        revenue = l.revenue + {revenue}::numeric,
        payout = l.payout + {payout}::numeric,
        offer_converted = l.offer_converted OR {pays_source}::boolean,
        data = CASE
          -- A lead that would exceed its limit of 128 kB keeps the tokens that it has.
          WHEN octet_length((l.data || {lead_tokens}::jsonb)::text) <= 131072
            THEN l.data || {lead_tokens}::jsonb
          ELSE l.data
        END,
        updated_at = {now}::timestamptz`;

/** Without a new conversion: the buyer takes the call, or the source is paid. */
export const RECORD_USE = statement(
  'calls.record_use',
  sql`
    WITH ${CHANGE_CALL},
    conversion AS (
      UPDATE conversions v
      SET payout = v.payout + {payout}::numeric
      FROM call
      WHERE {payout}::numeric <> 0
        AND v.company_id = {company_id}
        AND v.call_id = {call_id}::bigint
        AND v.buyer_id = {owner_id}::bigint
        AND v.returned_at IS NULL
      RETURNING v.id
    ),
    ${LEAD_WAS},
    lead AS (
      UPDATE leads l
      SET ${COLUMNS_OF_LEAD}
      FROM lead_was
      WHERE l.company_id = {company_id}
        AND l.id = lead_was.id
        AND (
          {pays_source}::boolean
          OR octet_length((l.data || {lead_tokens}::jsonb)::text) <= 131072
        )
      RETURNING lead_was.was, l AS is_now
    ),
    lead_recorded AS MATERIALIZED (SELECT ${RECORD_CHANGE} FROM lead x),
    events AS (${INSERT_EVENTS}
    ),
    ${RECORD_CALL}
    ${OUTCOME}
    WHERE answered.n >= 0`,
  { prepared: true, records: true },
);

/**
 * With a new conversion. A payout that belongs to no conversion of the call yet becomes part of the
 * new one. The lead converts, even if it has converted before.
 */
export const RECORD_CONVERSION = statement(
  'calls.record_conversion',
  sql`
    WITH ${CHANGE_CALL},
    conversion AS (
      INSERT INTO conversions (
        company_id, uuid, created_at, call_id, buyer_id, buyer_conversion_id, name, caller_number,
        revenue, payout
      )
      SELECT
        {company_id}, {conversion_uuid}::uuid, {now}::timestamptz, call.id, {owner_id}::bigint,
        {buyer_conversion_id}::bigint, {conversion_name}, call.caller_number,
        {conversion_revenue}::numeric,
        call.payout - coalesce(
          (
            SELECT sum(other.payout)
            FROM conversions other
            WHERE other.company_id = {company_id}
              AND other.call_id = call.id
              AND other.returned_at IS NULL
          ),
          0
        )
      FROM call
      RETURNING id, call_id
    ),
    ${LEAD_WAS},
    lead AS (
      UPDATE leads l
      SET ${COLUMNS_OF_LEAD},
        buyer_converted = true,
        buyer_id = {owner_id}::bigint
      FROM lead_was
      WHERE l.company_id = {company_id} AND l.id = lead_was.id
      RETURNING lead_was.was, l AS is_now
    ),
    lead_recorded AS MATERIALIZED (SELECT ${recordExit(sql`'converted'`)} FROM lead x),
    events AS (${INSERT_EVENTS}
    ),
    ${RECORD_CALL},
    converted AS MATERIALIZED (
      SELECT record_conversion_event({company_id}::bigint, v.call_id, v.id)
      FROM recorded, conversion v
    )
    ${OUTCOME}, (SELECT count(*) AS n FROM converted) converted
    WHERE answered.n >= 0 AND converted.n >= 0`,
  { prepared: true, records: true },
);
