import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/** Null where there is no offer. */
export const READ_DEFAULT_OFFERS = statement(
  'calls.read_offers_of_schedule_and_number',
  sql`
    SELECT
      (
        SELECT s.offer_id::text
        FROM schedules s
        WHERE s.company_id = {company_id} AND s.id = {schedule_id}::bigint
      ) AS of_schedule,
      (
        SELECT n.offer_id::text
        FROM numbers n
        WHERE n.company_id = {company_id}
          AND n.phone_number = {number}::bigint
          AND n.deleted_at IS NULL
      ) AS of_number`,
  { prepared: false, nullable: ['of_schedule', 'of_number'] },
);

/** A recent call of which it is not known whether the carrier placed it. */
export const FIND_UNCONFIRMED_CALL = statement(
  'calls.find_unconfirmed_call',
  sql`
    SELECT c.uuid::text AS uuid
    FROM calls c
    WHERE c.company_id = {company_id}
      AND c.caller_number = {caller_number}::bigint
      AND c.direction = 'outbound'
      AND c.status = 'sending'
      AND c.error_code IS NULL
      AND c.schedule_action_id IS NULL
      AND c.lead_id IS NOT DISTINCT FROM {lead_id}::bigint
      AND c.created_at > {now}::timestamptz - interval '15 minutes'
    ORDER BY c.id
    LIMIT 1`,
  { prepared: false },
);

export const FIND_PLACED_CALL = statement(
  'calls.find_placed_call',
  sql`SELECT id::text AS id FROM calls WHERE company_id = {company_id} AND uuid = {uuid}::uuid`,
  { prepared: false },
);

/** Deletes a call that was written before the carrier was asked, and was not placed. */
export const DELETE_UNPLACED_CALL = statement(
  'calls.delete_unplaced_call',
  sql`
    WITH deleted AS (
      DELETE FROM calls c
      WHERE c.company_id = {company_id}
        AND c.uuid = {uuid}::uuid
        AND c.status = 'sending'
        AND c.carrier_call_id IS NULL
      RETURNING c.company_id, c AS was
    ),
    counted AS (${countRows('calls', 'deleted', -1)}
    )
    SELECT record_deleted_call(deleted.was)
    FROM deleted`,
  { prepared: false, records: true },
);
