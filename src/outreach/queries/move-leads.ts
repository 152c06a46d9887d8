import { sql, statement } from '../../db/sql';

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

/** Starts locked leads in other schedules. Their contact attempts stay. */
export const MOVE_LEADS = statement(
  'outreach.move_leads',
  sql`
    UPDATE leads l
    SET schedule_id = s.id,
      offer_id = coalesce(s.offer_id, l.offer_id),
      status = 'scheduled',
      phase = 'actions',
      position = NULL,
      exit_reason = NULL,
      entered_at = {now}::timestamptz,
      next_action_at = {now}::timestamptz,
      due_at = {now}::timestamptz,
      delay_reason = NULL,
      updated_at = {now}::timestamptz
    FROM unnest({company_ids}::bigint[], {lead_ids}::bigint[], {schedule_ids}::bigint[])
      AS x(company_id, lead_id, schedule_id)
    JOIN schedules s ON s.company_id = x.company_id AND s.id = x.schedule_id
    WHERE l.company_id = x.company_id AND l.id = x.lead_id
  `,
  { prepared: false },
);

/** Ends locked leads with the given statuses. */
export const END_LEADS = statement(
  'outreach.end_leads',
  sql`
    UPDATE leads l
    SET is_live = false,
      due_at = NULL,
      next_action_at = NULL,
      schedule_ended_at = {now}::timestamptz,
      status = x.status,
      updated_at = {now}::timestamptz
    FROM unnest({company_ids}::bigint[], {lead_ids}::bigint[], {statuses}::text[])
      AS x(company_id, lead_id, status)
    WHERE l.company_id = x.company_id AND l.id = x.lead_id
  `,
  { prepared: false },
);
