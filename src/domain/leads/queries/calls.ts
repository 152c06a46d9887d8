import { sql, statement } from '../../../data/sql';
import { CONNECTION_REASON, recordExit } from './record-leads';

// Changes to a lead by its calls. The row of the lead is locked.

const HELD_LEAD = sql`
    held AS MATERIALIZED (
      SELECT l AS was, l.id
      FROM leads l
      WHERE l.company_id = {company_id} AND l.id = {lead_id}::bigint
      FOR NO KEY UPDATE
    )`;

/** A call that connects the lead may end its schedule. */
const RECORD = sql`
    SELECT ${recordExit(CONNECTION_REASON)} AS recorded
    FROM changed x`;

export const RECORD_PLACED_CALL = statement(
  'leads.record_placed_call',
  sql`
    WITH ${HELD_LEAD},
    changed AS (
      UPDATE leads l
      SET
        attempted_call_id = {call_id}::bigint,
        connected_call_id = CASE
          WHEN {call_status} IN ('in_progress', 'completed') THEN {call_id}::bigint
          ELSE l.connected_call_id
        END,
        status = CASE
          WHEN l.is_live
            AND l.status IN ('queue', 'scheduled', 'waiting')
            AND {call_status} IN ('queued', 'ringing', 'in_progress')
          THEN 'running'
          ELSE l.status
        END,
        contact_attempts = l.contact_attempts + 1,
        dial_number_id = coalesce(l.dial_number_id, {number_id}::bigint),
        last_call_at = {now}::timestamptz,
        last_action_at = {now}::timestamptz,
        first_action_at = coalesce(l.first_action_at, {now}::timestamptz),
        updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    )
    ${RECORD}
  `,
  { prepared: false },
);

export const RECORD_CALL_STATUS = statement(
  'leads.record_call_status',
  sql`
    WITH ${HELD_LEAD},
    changed AS (
      UPDATE leads l
      SET
        connected_call_id = coalesce({connected_call_id}::bigint, l.connected_call_id),
        status = {status},
        updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    )
    ${RECORD}
  `,
  { prepared: false },
);
