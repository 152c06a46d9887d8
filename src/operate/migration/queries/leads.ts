import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/**
 * Returns the ids of new ones: not of leads that exist here already, nor where another live lead of
 * the number exists. A live lead continues with the action that is next there; if the service does
 * not name it, the lead waits until it is started again.
 */
export const MOVE_LEADS = statement(
  'migration.move_leads',
  sql`
    WITH given AS (
      SELECT
        r.*,
        a.id IS NOT NULL AS has_action,
        coalesce(a.end_of_schedule, false) AS at_end,
        (
          SELECT max(b.position)
          FROM schedule_actions b
          WHERE b.company_id = {company_id} AND b.schedule_id = a.schedule_id
            AND b.end_of_schedule = a.end_of_schedule AND b.position < a.position
            AND b.deleted_at IS NULL
        ) AS position
      FROM jsonb_to_recordset({rows}::jsonb) AS r(
        id bigint, uuid uuid, created_at timestamptz, updated_at timestamptz,
        user_updated_at timestamptz, external_record_id text, caller_number bigint, email text,
        contact_field_type text, expires_in int, zones text[], sub_id text, offer_id bigint,
        schedule_id bigint, status text, is_live boolean, traffic_source_id bigint,
        buyer_id bigint, remote_ip text, attempted_call_id bigint, connected_call_id bigint,
        sms_number_id bigint, dial_number_id bigint, lead_priority numeric, hours_to_expire int,
        max_contact_attempts int, revenue numeric, payout numeric, offer_converted boolean,
        buyer_converted boolean, data json, first_queued_at timestamptz,
        first_action_at timestamptz, last_action_at timestamptz, last_call_at timestamptz,
        schedule_ended_at timestamptz, next_action_at timestamptz, next_schedule_action_id bigint
      )
      LEFT JOIN schedule_actions a
        ON a.company_id = {company_id} AND a.id = r.next_schedule_action_id
          AND a.schedule_id = r.schedule_id AND a.deleted_at IS NULL
    ),
    moved AS (
      INSERT INTO leads AS l (
        company_id, id, uuid, created_at, updated_at, user_updated_at, external_record_id,
        caller_number, email, contact_field_type, expires_in, zones, sub_id, offer_id, schedule_id,
        status, is_live, traffic_source_id, buyer_id, remote_ip, attempted_call_id,
        connected_call_id, sms_number_id, dial_number_id, lead_priority, hours_to_expire,
        max_contact_attempts, revenue, payout, offer_converted, buyer_converted, data,
        first_queued_at, first_action_at, last_action_at, last_call_at, schedule_ended_at,
        next_action_at, entered_at, phase, position, exit_reason, due_at
      )
      SELECT
        {company_id}, g.id, g.uuid, g.created_at, g.updated_at, g.user_updated_at,
        g.external_record_id, g.caller_number, g.email, g.contact_field_type, g.expires_in,
        g.zones, g.sub_id, g.offer_id, g.schedule_id, g.status, g.is_live, g.traffic_source_id,
        g.buyer_id, g.remote_ip, g.attempted_call_id, g.connected_call_id, g.sms_number_id,
        g.dial_number_id, g.lead_priority, g.hours_to_expire, g.max_contact_attempts, g.revenue,
        g.payout, g.offer_converted, g.buyer_converted, g.data, g.first_queued_at,
        g.first_action_at, g.last_action_at, g.last_call_at, g.schedule_ended_at, g.next_action_at,
        coalesce(g.first_queued_at, g.created_at),
        CASE WHEN g.at_end THEN 'end' ELSE 'actions' END,
        g.position,
        CASE WHEN g.at_end THEN 'completed' END,
        CASE
          WHEN NOT g.is_live THEN NULL
          WHEN g.has_action AND g.status IN ('scheduled', 'waiting')
          THEN coalesce(g.next_action_at, {now}::timestamptz)
          WHEN g.schedule_id IS NULL AND g.expires_in IS NOT NULL AND g.status = 'queue'
          THEN {now}::timestamptz
        END
      FROM given g
      ORDER BY g.caller_number
      ON CONFLICT DO NOTHING
      RETURNING l.company_id, l.id, l AS is_now
    ),
    counted AS (${countRows('leads', 'moved')}),
    logged AS (
      INSERT INTO lead_logs (company_id, created_at, lead_id, event, message)
      SELECT company_id, {now}::timestamptz, id, 'created', 'moved from another service'
      FROM moved
      ORDER BY id
    ),
    recorded AS MATERIALIZED (SELECT m.id, record_moved_lead(m.is_now) FROM moved m)
    SELECT id FROM recorded
  `,
  { prepared: false },
);
