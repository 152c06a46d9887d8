import { sql, statement } from '../../../data/sql';
import { RECORD_CHANGE } from './record-leads';

// Leads of an offer or of a schedule, in batches by ascending id: `last` is the last id of the
// batch, null for an empty one. One of offer_id and schedule_id is null.

/** Leads in the schedules of an offer are resumed too, because they were stopped with it. */
export const RESUME_OWNER_LEADS = statement(
  'leads.resume_owner_leads',
  sql`
    WITH batch AS MATERIALIZED (
      SELECT l.id, l AS was
      FROM leads l
      WHERE l.company_id = {company_id}
        AND (l.schedule_id = {schedule_id}::bigint OR l.offer_id = {offer_id}::bigint)
        AND l.id > {after}::bigint
        AND l.deleted_at IS NULL
        AND l.is_live
        AND l.status = 'disabled'
      ORDER BY l.id
      LIMIT 2000
      FOR UPDATE
    ),
    resumed AS (
      UPDATE leads l
      SET
        status = CASE WHEN l.schedule_id IS NULL THEN 'queue' ELSE 'scheduled' END,
        due_at = CASE
          WHEN l.schedule_id IS NOT NULL OR l.expires_in IS NOT NULL THEN {now}::timestamptz
        END,
        updated_at = {now}::timestamptz
      FROM batch
      WHERE l.company_id = {company_id} AND l.id = batch.id
      RETURNING l.id, batch.was, l AS is_now
    ),
    recorded AS MATERIALIZED (SELECT x.id, ${RECORD_CHANGE} FROM resumed x),
    logged AS (
      INSERT INTO lead_logs (company_id, created_at, lead_id, event)
      SELECT {company_id}, {now}::timestamptz, id, 'resumed' FROM recorded ORDER BY id
    )
    SELECT max(id) AS last FROM recorded
  `,
  { prepared: false, nullable: ['last'] },
);

/** Leads in the schedules of a deleted offer stay, because the schedules stay. */
export const REMOVE_OWNER_LEADS = statement(
  'leads.remove_owner_leads',
  sql`
    WITH batch AS MATERIALIZED (
      SELECT l.id, l AS was
      FROM leads l
      WHERE l.company_id = {company_id}
        AND (
          l.schedule_id = {schedule_id}::bigint
          OR (l.offer_id = {offer_id}::bigint AND l.schedule_id IS NULL)
        )
        AND l.id > {after}::bigint
        AND l.deleted_at IS NULL
        AND l.is_live
      ORDER BY l.id
      LIMIT 2000
      FOR UPDATE
    ),
    removed AS (
      UPDATE leads l
      SET
        status = 'disabled',
        is_live = false,
        due_at = NULL,
        claim_id = NULL,
        updated_at = {now}::timestamptz
      FROM batch
      WHERE l.company_id = {company_id} AND l.id = batch.id
      RETURNING l.id, batch.was, l AS is_now
    ),
    recorded AS MATERIALIZED (SELECT x.id, ${RECORD_CHANGE} FROM removed x),
    logged AS (
      INSERT INTO lead_logs (company_id, created_at, lead_id, event)
      SELECT {company_id}, {now}::timestamptz, id, 'removed' FROM recorded ORDER BY id
    )
    SELECT max(id) AS last FROM recorded
  `,
  { prepared: false, nullable: ['last'] },
);
