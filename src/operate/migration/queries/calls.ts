import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/** Returns the ids of new ones. No caps are used, and no events are recorded. */
export const MOVE_CALLS = statement(
  'migration.move_calls',
  sql`
    WITH moved AS (
      INSERT INTO calls AS c (
        company_id, id, uuid, created_at, updated_at, user_updated_at, external_record_id,
        direction, from_number, to_number, caller_number, caller_city, caller_state, caller_zip,
        caller_country, connect_to, status, error_code, error_message, hangup_cause, carrier,
        carrier_call_id, number_id, lead_id, offer_id, traffic_source_id, sub_id,
        contact_field_type, schedule_id, schedule_action_id, buyer_id, fallback, token_values,
        recording_url, revenue, buyer_revenue, payout, provider_cost, service_cost,
        buyer_converted, buyer_repeat_caller, traffic_source_converted,
        traffic_source_repeat_caller, answered_at, connected_at, ended_at, total_duration,
        answered_duration, agent_id, quality_assurance_id, quality_assurance_name, disposition_id,
        disposition_notes, routed, answered_by, machine_action, machine_message, abandoned
      )
      SELECT
        {company_id}, r.*
      FROM jsonb_to_recordset({rows}::jsonb) AS r(
        id bigint, uuid uuid, created_at timestamptz, updated_at timestamptz,
        user_updated_at timestamptz, external_record_id text, direction text, from_number bigint,
        to_number bigint, caller_number bigint, caller_city text, caller_state text,
        caller_zip text, caller_country text, connect_to text, status text, error_code text,
        error_message text, hangup_cause text, carrier text, carrier_call_id text,
        number_id bigint, lead_id bigint, offer_id bigint, traffic_source_id bigint, sub_id text,
        contact_field_type text, schedule_id bigint, schedule_action_id bigint, buyer_id bigint,
        fallback text, token_values json, recording_url text, revenue numeric,
        buyer_revenue numeric, payout numeric, provider_cost numeric, service_cost numeric,
        buyer_converted boolean, buyer_repeat_caller boolean, traffic_source_converted boolean,
        traffic_source_repeat_caller boolean, answered_at timestamptz, connected_at timestamptz,
        ended_at timestamptz, total_duration int, answered_duration int, agent_id bigint,
        quality_assurance_id bigint, quality_assurance_name text, disposition_id bigint,
        disposition_notes text, routed boolean, answered_by text, machine_action text,
        machine_message text, abandoned boolean
      )
      ORDER BY r.id
      ON CONFLICT DO NOTHING
      RETURNING c.company_id, c.id, c AS is_now
    ),
    counted AS (${countRows('calls', 'moved')}),
    recorded AS MATERIALIZED (SELECT m.id, record_moved_call(m.is_now) FROM moved m)
    SELECT id FROM recorded
  `,
  { prepared: false },
);

/** The revenue that buyers paid for them: a caller who was paid for is a repeat caller here too. */
export const MOVE_CONVERSIONS = statement(
  'migration.move_conversions',
  sql`
    INSERT INTO conversions (
      company_id, uuid, created_at, call_id, buyer_id, caller_number, revenue, payout
    )
    SELECT
      {company_id}, r.uuid, coalesce(c.connected_at, c.created_at), c.id, c.buyer_id,
      c.caller_number, c.buyer_revenue, c.payout
    FROM jsonb_to_recordset({rows}::jsonb) AS r(id bigint, uuid uuid)
    JOIN calls c ON c.company_id = {company_id} AND c.id = r.id
    WHERE c.buyer_converted AND c.buyer_id IS NOT NULL
    ORDER BY c.id
  `,
  { prepared: false },
);
