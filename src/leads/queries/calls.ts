import { sql, statement } from '../../db/sql';

// What calls change of their lead, whose row is locked.

export const RECORD_PLACED_CALL = statement(
  'leads.record_placed_call',
  sql`
    UPDATE leads
    SET
      attempted_call_id = {call_id}::bigint,
      connected_call_id = CASE
        WHEN {call_status} IN ('in_progress', 'completed') THEN {call_id}::bigint
        ELSE connected_call_id
      END,
      status = CASE
        WHEN is_live
          AND status IN ('queue', 'scheduled', 'waiting')
          AND {call_status} IN ('queued', 'ringing', 'in_progress')
        THEN 'running'
        ELSE status
      END,
      contact_attempts = contact_attempts + 1,
      dial_number_id = coalesce(dial_number_id, {number_id}::bigint),
      last_call_at = {now}::timestamptz,
      last_action_at = {now}::timestamptz,
      first_action_at = coalesce(first_action_at, {now}::timestamptz),
      updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND id = {lead_id}::bigint
  `,
  { prepared: false },
);

/** A null connected_call_id keeps the call that the lead has. */
export const RECORD_CALL_STATUS = statement(
  'leads.record_call_status',
  sql`
    UPDATE leads
    SET
      connected_call_id = coalesce({connected_call_id}::bigint, connected_call_id),
      status = {status},
      updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND id = {lead_id}::bigint
  `,
  { prepared: false },
);
