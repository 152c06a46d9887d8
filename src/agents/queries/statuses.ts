import { sql, statement } from '../../db/sql';

export const LOCK_STATUS_BY_KEY = statement(
  'agents.lock_status_by_key',
  sql`
    SELECT id::text
    FROM agent_statuses
    WHERE company_id = {company_id} AND key = {key} AND deleted_at IS NULL
    FOR SHARE
  `,
  { prepared: false },
);

export const RECORD_FIRST_STATUS = statement(
  'agents.record_first_status',
  sql`
    INSERT INTO agent_status_timestamps
      (company_id, created_at, updated_at, agent_id, user_id, agent_status_id, key)
    SELECT a.company_id, {now}::timestamptz, {now}::timestamptz, a.id, a.user_id,
      a.agent_status_id, s.key
    FROM agents a
    JOIN agent_statuses s ON s.company_id = a.company_id AND s.id = a.agent_status_id
    WHERE a.company_id = {company_id} AND a.id = {agent_id}::bigint
  `,
  { prepared: false },
);

/**
 * One statement, so that parallel changes queue on the row of the agent. A change to the status
 * that the agent already has is not recorded.
 */
export const CHANGE_STATUS = statement(
  'agents.change_status',
  sql`
    WITH changed AS (
      UPDATE agents
      SET agent_status_id = {agent_status_id}::bigint, status_changed_at = {now}::timestamptz,
        updated_at = {now}::timestamptz, user_updated_at = {now}::timestamptz
      WHERE company_id = {company_id} AND id = {agent_id}::bigint
        AND agent_status_id <> {agent_status_id}::bigint
      RETURNING company_id, id, user_id, agent_status_id
    )
    INSERT INTO agent_status_timestamps
      (company_id, created_at, updated_at, agent_id, user_id, agent_status_id, key)
    SELECT a.company_id, {now}::timestamptz, {now}::timestamptz, a.id, a.user_id,
      a.agent_status_id, s.key
    FROM changed a
    JOIN agent_statuses s ON s.company_id = a.company_id AND s.id = a.agent_status_id
  `,
  { prepared: false },
);
