import { sql, statement } from '../../../data/sql';
import { NOT_LOGGED, storeLeads } from './record-leads';

// Leads of several companies, which are locked: no row changes before it is written.

/** Each of `leads` has company_id, id and the columns that change. */
export const SAVE_LEADS = statement(
  'leads.save_leads',
  storeLeads(
    sql`
      SELECT
        l AS was,
        jsonb_populate_record(
          l, c.columns || jsonb_build_object('updated_at', {now}::timestamptz)
        ) AS is_now
      FROM jsonb_array_elements({leads}::jsonb) c(columns)
      JOIN leads l
        ON l.company_id = (c.columns->>'company_id')::bigint
        AND l.id = (c.columns->>'id')::bigint`,
    NOT_LOGGED,
  ),
  { prepared: true },
);

export const MOVE_LEADS = statement(
  'leads.move_leads',
  storeLeads(
    sql`
      SELECT
        l AS was,
        jsonb_populate_record(l, jsonb_build_object(
          'schedule_id', s.id,
          'offer_id', coalesce(s.offer_id, l.offer_id),
          'status', 'scheduled',
          'phase', 'actions',
          'position', NULL,
          'exit_reason', NULL,
          'entered_at', {now}::timestamptz,
          'next_action_at', {now}::timestamptz,
          'due_at', {now}::timestamptz,
          'delay_reason', NULL,
          'updated_at', {now}::timestamptz
        )) AS is_now
      FROM unnest({company_ids}::bigint[], {ids}::bigint[], {schedule_ids}::bigint[])
        AS m(company_id, id, schedule_id)
      JOIN schedules s ON s.company_id = m.company_id AND s.id = m.schedule_id
      JOIN leads l ON l.company_id = m.company_id AND l.id = m.id`,
    NOT_LOGGED,
  ),
  { prepared: false },
);
