import type { Schemas } from '../../../platform/contract/contract';
import { sql, statement } from '../../../data/sql';
import type { ActionRow } from '../../schedules/engine/plan';

export const READ_HISTORY = statement(
  'outreach.read_history',
  sql`
    SELECT id, created_at, event, message, schedule_action_id
    FROM (
      SELECT id, created_at, event, message, schedule_action_id
      FROM lead_logs
      WHERE company_id = {company_id} AND lead_id = {lead_id}
      ORDER BY id DESC
      LIMIT 1000
    ) newest
    ORDER BY id
  `,
  { prepared: false },
).returning<{ created_at: Date; event: Schemas['LeadEvent'] }>();

export const READ_QUEUED_WEBHOOK = statement(
  'outreach.read_queued_webhook',
  sql`
    SELECT lead_id, schedule_action_id, details
    FROM lead_logs
    WHERE company_id = {company_id} AND id = {id}
  `,
  { prepared: false },
).returning<{ schedule_action_id: string; details: { tries?: number; over?: boolean } | null }>();

export const READ_WEBHOOK_ACTION = statement(
  'outreach.read_webhook_action',
  sql`
    SELECT id::text, url, method, headers, body, maker_user_id::text,
      maker_team_ids::text[] AS maker_team_ids
    FROM schedule_actions
    WHERE company_id = {company_id} AND id = {id} AND url IS NOT NULL AND deleted_at IS NULL
  `,
  { prepared: false, nullable: ['maker_user_id'] },
).returning<Pick<ActionRow, 'headers'> & { maker_team_ids: string[] }>();

/** Changes nothing when another run of the job has recorded the final result. */
export const UPDATE_QUEUED_WEBHOOK = statement(
  'outreach.update_queued_webhook',
  sql`
    UPDATE lead_logs
    SET details = {details}::jsonb
    WHERE company_id = {company_id} AND id = {id}::bigint
      AND coalesce((details->>'over')::boolean, false) = false
    RETURNING id
  `,
  { prepared: false },
);
