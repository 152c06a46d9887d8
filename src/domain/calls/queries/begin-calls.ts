import {
  CAPS_BEFORE,
  HAVE_ROOM,
  OPEN_LIMITS,
  RESERVED_COUNTERS,
} from '../../caps/queries/cap-reservations';
import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';
import { INSERT_ATTEMPTS, INSERT_BASES, INSERT_SLOTS, RECORD_ATTEMPT } from './record-call';

/**
 * Writes calls that begin at the same time, each with its first round: the caps of the buyers that
 * are dialed, the call, attempts, slots, decision, events. It fails as a whole, with SQLSTATE TL001
 * and the rows of caps as detail, when a cap has no room for all of them.
 *
 * Rows of caps are locked groups first, then buyers, then traffic sources, each by id: all calls of
 * a source want its row, which is held for the shortest time. `moves` is what all calls take of
 * each row; `uses` is what each call takes, with `held_*` and `calls` summed over it and the calls
 * after it, so that its decision shows the caps as they were before it. A call whose caps were
 * reserved before has no moves and no uses; its `caps` is the JSON that the decision stores.
 * `index` is the index of a call in `calls`.
 */
export const BEGIN_CALLS = statement(
  'calls.begin_calls',
  sql`
    WITH moves AS MATERIALIZED (
      SELECT *
      FROM unnest(
        {limit_ids}::bigint[], {moved_calls}::int[], {moved_connections}::int[],
        {moved_conversions}::int[], {moved_revenue}::numeric[], {moved_slots}::int[],
        {spacings}::int[]
      ) AS x(
        limit_id, calls, held_connections, held_conversions, held_revenue, slots, spacing_seconds
      )
    ),
    locked AS MATERIALIZED (
      SELECT l.id, l.buyer_id, l.zone
      FROM moves m
      JOIN call_limits l ON l.company_id = {company_id} AND l.id = m.limit_id
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
      FOR NO KEY UPDATE OF l
    ),
    hourly AS MATERIALIZED (
      SELECT k.id, h.*
      FROM locked k
      LEFT JOIN LATERAL (
        SELECT
          x.attempt_hourly_limit, x.buyer_conversion_hourly_limit, x.connection_hourly_limit,
          x.earned_revenue_hourly_limit, x.revenue_hourly_limit
        FROM buyer_business_hours x
        WHERE x.company_id = {company_id} AND x.buyer_id = k.buyer_id
          AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, k.zone))
        ORDER BY x.position
        LIMIT 1
      ) h ON true
      WHERE k.buyer_id IS NOT NULL
      UNION ALL
      SELECT
        k.id, l.attempt_hourly_limit, l.buyer_conversion_hourly_limit, l.connection_hourly_limit,
        l.earned_revenue_hourly_limit, l.revenue_hourly_limit
      FROM locked k
      JOIN call_limits l ON l.company_id = {company_id} AND l.id = k.id
      WHERE k.buyer_id IS NULL
    ),
    reserved AS (
      UPDATE call_limits l
      SET
        ${RESERVED_COUNTERS}
      FROM moves m
      JOIN hourly h ON h.id = m.limit_id
      WHERE l.company_id = {company_id} AND l.id = m.limit_id
        AND ${HAVE_ROOM}
      RETURNING l.*,
        ${OPEN_LIMITS}
    ),
    rounds AS MATERIALIZED (
      SELECT x.*, nextval('calls_id_seq') AS id, 1 AS round
      FROM (SELECT require_caps({limit_ids}::bigint[], ARRAY(SELECT id FROM reserved))) room,
        json_to_recordset({calls}::json) AS x(
          index int, uuid uuid, status text, carrier text, carrier_call_id text,
          caller_number bigint, caller_country text, caller_city text, caller_state text,
          caller_zip text, number_called bigint, number_id bigint, offer_id bigint, lead_id bigint,
          schedule_id bigint, traffic_source_id bigint, sub_id text, contact_field_type text,
          token_values jsonb, fallback text, hangup_cause text, ended_at timestamptz,
          buyer_id bigint, connect_to text, lease_until timestamptz, longest int,
          dials_as_one boolean, decision text, caps text
        )
      WHERE x.carrier_call_id IS NULL
        OR claim_call_sid({company_id}::bigint, x.carrier, x.carrier_call_id)
    ),
    call AS (
      INSERT INTO calls AS c (
        id, company_id, uuid, created_at, updated_at, direction, status, carrier, carrier_call_id,
        from_number, caller_number, caller_country, caller_city, to_number, number_id, offer_id,
        lead_id, schedule_id, traffic_source_id, sub_id, contact_field_type, token_values, round,
        fallback, hangup_cause, ended_at, buyer_id, connect_to, caller_state, caller_zip,
        service_cost
      )
      SELECT
        r.id, {company_id}, r.uuid, {now}::timestamptz, {now}::timestamptz, 'inbound', r.status,
        r.carrier, r.carrier_call_id, r.caller_number, r.caller_number, r.caller_country,
        r.caller_city, r.number_called, r.number_id, r.offer_id, r.lead_id, r.schedule_id,
        r.traffic_source_id, r.sub_id, r.contact_field_type, r.token_values, r.round, r.fallback,
        r.hangup_cause, r.ended_at, r.buyer_id, r.connect_to, r.caller_state, r.caller_zip,
        service_cost_of({company_id}::bigint, NULL, {now}::timestamptz, r.ended_at)
      FROM rounds r
      ORDER BY r.index
      RETURNING c.company_id, c AS now
    ),
    counted AS (${countRows('calls', 'call')}
    ),
    attempts AS (${INSERT_ATTEMPTS}
    ),
    uses AS MATERIALIZED (
      SELECT *
      FROM json_to_recordset({uses}::json) AS x(
        index int, n int, limit_id bigint, buyer_id bigint, buyer_group_id bigint,
        traffic_source_id bigint, calls int, slots int,
        held_connections int, held_conversions int, held_revenue numeric
      )
    ),
    slots AS (${INSERT_SLOTS}
    ),
    caps AS (
      SELECT
        u.index,
        json_agg(
          json_build_object(
            'cap', v.cap,
            'used', v.used,
            'limit', v.cap_limit,
            'resets_at', to_char(v.resets_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'buyer_id', u.buyer_id,
            'buyer_group_id', u.buyer_group_id,
            'traffic_source_id', u.traffic_source_id
          )
          ORDER BY u.n, v.n
        )::text AS list
      FROM uses u
      JOIN reserved r ON r.id = u.limit_id
      CROSS JOIN LATERAL (
        VALUES ${CAPS_BEFORE}
      ) AS v(n, cap, used, cap_limit, resets_at)
      WHERE v.cap_limit IS NOT NULL
      GROUP BY u.index
    ),
    basis AS (${INSERT_BASES}
    ),
    decision AS (
      INSERT INTO call_decisions (company_id, call_id, round, created_at, decision)
      SELECT
        {company_id}, r.id, r.round, {now}::timestamptz,
        (r.decision || coalesce(caps.list, r.caps) || '}')::json
      FROM rounds r
      LEFT JOIN caps ON caps.index = r.index
    ),
    queued AS (
      INSERT INTO lead_calls (company_id, call_id, changed_at)
      SELECT {company_id}, r.id, {now}::timestamptz
      FROM rounds r
      WHERE r.lead_id IS NOT NULL AND r.buyer_id IS NOT NULL
    ),
    events AS (
      INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
      SELECT {company_id}, {now}::timestamptz, r.id, x.event, x.message, x.buyer_id, x.details
      FROM rounds r
      JOIN json_to_recordset({events}::json) AS x(
        index int, n int, event text, message text, buyer_id bigint, details jsonb
      ) ON x.index = r.index
      ORDER BY x.n
    ),
    recorded AS MATERIALIZED (
      SELECT record_new_call(call.now)
      FROM call
    ),
    dialed AS MATERIALIZED (
      SELECT ${RECORD_ATTEMPT}
      FROM (SELECT count(*) AS n FROM recorded) calls, attempts a
      WHERE calls.n > 0
    )
    SELECT r.id::float8 AS id
    FROM (SELECT count(*) AS n FROM dialed) dialed, rounds r
    WHERE dialed.n >= 0
    ORDER BY r.index
  `,
  { prepared: true, records: true },
);
