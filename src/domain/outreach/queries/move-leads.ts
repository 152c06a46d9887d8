import { sql, statement } from '../../../data/sql';

/**
 * The schedules that leads move to, null when deleted, and whether another live lead of the same
 * number is already in it.
 */
export const FIND_MOVE_TARGETS = statement(
  'outreach.find_move_targets',
  sql`
    SELECT x.company_id, x.lead_id, s.id AS schedule_id, s.name,
      EXISTS (
        SELECT
        FROM leads o
        WHERE o.company_id = x.company_id AND o.schedule_id = x.schedule_id
          AND o.caller_number = x.caller_number AND o.is_live AND o.id <> x.lead_id
      ) AS is_taken
    FROM unnest(
      {company_ids}::bigint[], {lead_ids}::bigint[], {schedule_ids}::bigint[],
      {caller_numbers}::bigint[]
    ) AS x(company_id, lead_id, schedule_id, caller_number)
    LEFT JOIN schedules s
      ON s.company_id = x.company_id AND s.id = x.schedule_id AND s.deleted_at IS NULL
    ORDER BY x.company_id, x.lead_id
  `,
  { prepared: false },
).returning<{ company_id: string; lead_id: string; is_taken: boolean }>();
