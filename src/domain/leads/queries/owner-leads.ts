import { sql, statement } from '../../../data/sql';
import { storeLeads } from './record-leads';

// Leads of an offer or of a schedule, in batches by ascending id: `last` is the last id of the
// batch, null for an empty one. One of offer_id and schedule_id is null.

const BATCH = sql`
  l.id > {after}::bigint AND l.deleted_at IS NULL AND l.is_live`;

/** Leads in the schedules of an offer are resumed too, because they were stopped with it. */
export const RESUME_OWNER_LEADS = statement(
  'leads.resume_owner_leads',
  sql`
    SELECT max(r.id) AS last
    FROM (${storeLeads(sql`
      SELECT l AS was, resume_lead(l, {now}::timestamptz) AS is_now
      FROM leads l
      WHERE l.company_id = {company_id}
        AND (l.schedule_id = {schedule_id}::bigint OR l.offer_id = {offer_id}::bigint)
        AND ${BATCH}
        AND l.status = 'disabled'
      ORDER BY l.id
      LIMIT 2000
      FOR UPDATE`)}) r
  `,
  { prepared: false, nullable: ['last'] },
);

/** Leads in the schedules of a deleted offer stay, because the schedules stay. */
export const REMOVE_OWNER_LEADS = statement(
  'leads.remove_owner_leads',
  sql`
    SELECT max(r.id) AS last
    FROM (${storeLeads(sql`
      SELECT
        l AS was,
        jsonb_populate_record(l, jsonb_build_object(
          'status', 'disabled', 'is_live', false, 'due_at', NULL, 'claim_id', NULL,
          'updated_at', {now}::timestamptz
        )) AS is_now
      FROM leads l
      WHERE l.company_id = {company_id}
        AND (
          l.schedule_id = {schedule_id}::bigint
          OR (l.offer_id = {offer_id}::bigint AND l.schedule_id IS NULL)
        )
        AND ${BATCH}
      ORDER BY l.id
      LIMIT 2000
      FOR UPDATE`)}) r
  `,
  { prepared: false, nullable: ['last'] },
);
