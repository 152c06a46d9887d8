import { sql, statement } from '../../../data/sql';
import { RECORD_CHANGE } from './record-leads';

/**
 * Changes a lead: `changes` are columns as JSON, all others stay. With `only_live` a lead that has
 * ended stays as it is; none is returned then.
 */
export const CHANGE_LEAD = statement(
  'leads.change_lead',
  sql`
    WITH held AS MATERIALIZED (
      SELECT l AS was, l.id
      FROM leads l
      WHERE l.company_id = {company_id}
        AND l.id = {id}::bigint
        AND (l.is_live OR NOT {only_live}::boolean)
      FOR NO KEY UPDATE
    ),
    changed AS (
      UPDATE leads l
      SET
        updated_at = x.updated_at,
        deleted_at = x.deleted_at,
        user_updated_at = x.user_updated_at,
        external_record_id = x.external_record_id,
        email = x.email,
        contact_field_type = x.contact_field_type,
        zones = x.zones,
        sub_id = x.sub_id,
        status = x.status,
        is_live = x.is_live,
        traffic_source_id = x.traffic_source_id,
        scheduled_callback_id = x.scheduled_callback_id,
        lead_priority = x.lead_priority,
        hours_to_expire = x.hours_to_expire,
        max_contact_attempts = x.max_contact_attempts,
        data = x.data,
        schedule_ended_at = x.schedule_ended_at,
        next_action_at = x.next_action_at,
        callback_at = x.callback_at,
        entered_at = x.entered_at,
        phase = x.phase,
        position = x.position,
        exit_reason = x.exit_reason,
        contact_attempts = x.contact_attempts,
        suppressed = x.suppressed,
        unreachable = x.unreachable,
        due_at = x.due_at,
        claim_id = x.claim_id,
        tries = x.tries
      FROM held
      CROSS JOIN LATERAL jsonb_populate_record(held.was, {changes}::jsonb) x
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING l.id, held.was, l AS is_now
    )
    SELECT x.id, ${RECORD_CHANGE} AS recorded
    FROM changed x
  `,
  { prepared: true },
);
