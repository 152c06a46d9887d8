import { sql, statement } from '../../../data/sql';
import { NOT_LOGGED, storeLeads } from './record-leads';

/** A call that connects the lead may end its schedule. */
export const RECORD_PLACED_CALL = statement(
  'leads.record_placed_call',
  storeLeads(
    sql`
      SELECT
        l AS was,
        jsonb_populate_record(l, jsonb_build_object(
          'attempted_call_id', {call_id}::bigint,
          'connected_call_id', CASE
            WHEN {call_status} IN ('in_progress', 'completed') THEN {call_id}::bigint
            ELSE l.connected_call_id
          END,
          'status', CASE
            WHEN l.is_live
              AND l.status IN ('queue', 'scheduled', 'waiting')
              AND {call_status} IN ('queued', 'ringing', 'in_progress')
            THEN 'running'
            ELSE l.status
          END,
          'contact_attempts', l.contact_attempts + 1,
          'dial_number_id', coalesce(l.dial_number_id, {number_id}::bigint),
          'last_call_at', {now}::timestamptz,
          'last_action_at', {now}::timestamptz,
          'first_action_at', coalesce(l.first_action_at, {now}::timestamptz),
          'updated_at', {now}::timestamptz
        )) AS is_now
      FROM leads l
      WHERE l.company_id = {company_id} AND l.id = {lead_id}::bigint
      FOR NO KEY UPDATE`,
    NOT_LOGGED,
  ),
  { prepared: false },
);
