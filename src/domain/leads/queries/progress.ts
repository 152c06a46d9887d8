import { sql, statement } from '../../../data/sql';
import { CONNECTION_REASON, OPT_OUT_REASON, RECORD_CHANGE } from './record-leads';

// The leads are locked, so that no row changes before the UPDATE.

export const SAVE_LEADS = statement(
  'leads.save_leads',
  sql`
    WITH saved AS MATERIALIZED (
      SELECT x.*, w AS was
      FROM jsonb_to_recordset({leads}::jsonb) AS x(
        company_id bigint, id bigint, status text, is_live boolean, due_at timestamptz,
        next_action_at timestamptz, callback_at timestamptz, entered_at timestamptz,
        first_action_at timestamptz, last_action_at timestamptz, last_call_at timestamptz,
        schedule_ended_at timestamptz, phase text, position double precision, exit_reason text,
        contact_attempts int, delay_reason text, suppressed boolean, unreachable boolean, step int,
        tries int, sms_number_id bigint, dial_number_id bigint, attempted_call_id bigint,
        connected_call_id bigint, called_back boolean, keeps_claim boolean
      )
      JOIN leads w ON w.company_id = x.company_id AND w.id = x.id
    ),
    changed AS (
      UPDATE leads l
      SET
        status = x.status,
        is_live = x.is_live,
        due_at = x.due_at,
        next_action_at = x.next_action_at,
        callback_at = x.callback_at,
        entered_at = x.entered_at,
        first_action_at = x.first_action_at,
        last_action_at = x.last_action_at,
        last_call_at = x.last_call_at,
        schedule_ended_at = x.schedule_ended_at,
        phase = x.phase,
        position = x.position,
        exit_reason = x.exit_reason,
        contact_attempts = x.contact_attempts,
        delay_reason = x.delay_reason,
        suppressed = x.suppressed,
        unreachable = x.unreachable,
        step = x.step,
        tries = x.tries,
        sms_number_id = x.sms_number_id,
        dial_number_id = x.dial_number_id,
        attempted_call_id = coalesce(x.attempted_call_id, l.attempted_call_id),
        connected_call_id = coalesce(x.connected_call_id, l.connected_call_id),
        scheduled_callback_id = CASE WHEN x.called_back THEN NULL ELSE l.scheduled_callback_id END,
        claim_id = CASE WHEN x.keeps_claim THEN l.claim_id END,
        updated_at = {now}::timestamptz
      FROM saved x
      WHERE l.company_id = x.company_id AND l.id = x.id
      RETURNING x.was, l AS is_now
    )
    SELECT count(record_lead_change(
      x.was, leave_schedule(leave_schedule(x.is_now, ${CONNECTION_REASON}), ${OPT_OUT_REASON})
    )) AS n
    FROM changed x
  `,
  { prepared: true },
);

export const MOVE_LEADS = statement(
  'leads.move_leads',
  sql`
    WITH moved AS MATERIALIZED (
      SELECT m.company_id, m.id, s.id AS schedule_id, s.offer_id, w AS was
      FROM unnest({company_ids}::bigint[], {ids}::bigint[], {schedule_ids}::bigint[])
        AS m(company_id, id, schedule_id)
      JOIN schedules s ON s.company_id = m.company_id AND s.id = m.schedule_id
      JOIN leads w ON w.company_id = m.company_id AND w.id = m.id
    ),
    changed AS (
      UPDATE leads l
      SET
        schedule_id = m.schedule_id,
        offer_id = coalesce(m.offer_id, l.offer_id),
        status = 'scheduled',
        phase = 'actions',
        position = NULL,
        exit_reason = NULL,
        entered_at = {now}::timestamptz,
        next_action_at = {now}::timestamptz,
        due_at = {now}::timestamptz,
        delay_reason = NULL,
        updated_at = {now}::timestamptz
      FROM moved m
      WHERE l.company_id = m.company_id AND l.id = m.id
      RETURNING m.was, l AS is_now
    )
    SELECT count(${RECORD_CHANGE}) AS n
    FROM changed x
  `,
  { prepared: false },
);

export const END_LEADS = statement(
  'leads.end_leads',
  sql`
    WITH ended AS MATERIALIZED (
      SELECT e.company_id, e.id, e.status, w AS was
      FROM unnest({company_ids}::bigint[], {ids}::bigint[], {statuses}::text[])
        AS e(company_id, id, status)
      JOIN leads w ON w.company_id = e.company_id AND w.id = e.id
    ),
    changed AS (
      UPDATE leads l
      SET
        is_live = false,
        due_at = NULL,
        next_action_at = NULL,
        schedule_ended_at = {now}::timestamptz,
        status = e.status,
        updated_at = {now}::timestamptz
      FROM ended e
      WHERE l.company_id = e.company_id AND l.id = e.id
      RETURNING e.was, l AS is_now
    )
    SELECT count(${RECORD_CHANGE}) AS n
    FROM changed x
  `,
  { prepared: false },
);
