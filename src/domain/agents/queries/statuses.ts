import { sql, statement } from '../../../data/sql';

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

/**
 * For an agent that this transaction has created. The statements that write agents also record the
 * effects, by record_agent_change() (prisma/sql/agents).
 */
export const RECORD_FIRST_STATUS = statement(
  'agents.record_first_status',
  sql`
    WITH first_status AS (
      INSERT INTO agent_status_timestamps
        (company_id, created_at, updated_at, agent_id, user_id, agent_status_id, key)
      SELECT a.company_id, {now}::timestamptz, {now}::timestamptz, a.id, a.user_id,
        a.agent_status_id, s.key
      FROM agents a
      JOIN agent_statuses s ON s.company_id = a.company_id AND s.id = a.agent_status_id
      WHERE a.company_id = {company_id} AND a.id = {agent_id}::bigint
    )
    SELECT record_agent_change(NULL, a)::text AS recorded
    FROM agents a
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
    WITH was AS MATERIALIZED (
      SELECT a.*
      FROM agents a
      WHERE a.company_id = {company_id} AND a.id = {agent_id}::bigint
        AND a.agent_status_id <> {agent_status_id}::bigint
      FOR NO KEY UPDATE
    ),
    changed AS (
      UPDATE agents a
      SET agent_status_id = {agent_status_id}::bigint, status_changed_at = {now}::timestamptz,
        updated_at = {now}::timestamptz, user_updated_at = {now}::timestamptz
      FROM was
      WHERE a.company_id = was.company_id AND a.id = was.id
      RETURNING a.*
    ),
    entered AS (
      INSERT INTO agent_status_timestamps
        (company_id, created_at, updated_at, agent_id, user_id, agent_status_id, key)
      SELECT a.company_id, {now}::timestamptz, {now}::timestamptz, a.id, a.user_id,
        a.agent_status_id, s.key
      FROM changed a
      JOIN agent_statuses s ON s.company_id = a.company_id AND s.id = a.agent_status_id
    )
    SELECT record_agent_change(was::agents, changed::agents)::text AS recorded
    FROM was
    JOIN changed ON changed.id = was.id
  `,
  { prepared: false },
);

export const DELETE_AGENT = statement(
  'agents.delete_agent',
  sql`
    WITH was AS MATERIALIZED (
      SELECT a.*
      FROM agents a
      WHERE a.company_id = {company_id} AND a.id = {agent_id}::bigint
      FOR NO KEY UPDATE
    ),
    deleted AS (
      UPDATE agents a
      SET deleted_at = {now}::timestamptz, updated_at = {now}::timestamptz,
        user_updated_at = {now}::timestamptz
      FROM was
      WHERE a.company_id = was.company_id AND a.id = was.id
      RETURNING a.*
    )
    SELECT record_agent_change(was::agents, deleted::agents)::text AS recorded
    FROM was
    JOIN deleted ON deleted.id = was.id
  `,
  { prepared: false },
);
