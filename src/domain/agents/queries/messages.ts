import { sql, statement } from '../../../data/sql';

/** The agents of the targets of a message; null when it has none and is for all agents. */
export const FIND_TARGETED_AGENTS = statement(
  'agents.find_targeted_agents',
  sql`
    WITH target_centers AS (
        SELECT c.company_id, c.call_center_id
        FROM agent_message_call_centers c
        WHERE c.company_id = {company_id} AND c.agent_message_id = {id}::bigint
      ),
      target_groups AS (
        SELECT g.company_id, g.buyer_group_id
        FROM agent_message_buyer_groups g
        WHERE g.company_id = {company_id} AND g.agent_message_id = {id}::bigint
      ),
      target_buyers AS (
        SELECT b.company_id, b.buyer_id
        FROM agent_message_buyers b
        WHERE b.company_id = {company_id} AND b.agent_message_id = {id}::bigint
      )
    SELECT CASE
        WHEN EXISTS (SELECT FROM target_centers)
          OR EXISTS (SELECT FROM target_groups)
          OR EXISTS (SELECT FROM target_buyers)
        THEN ARRAY(
          SELECT a.agent_id::text
          FROM target_centers
          JOIN agent_call_centers a ON a.company_id = target_centers.company_id
            AND a.call_center_id = target_centers.call_center_id
          UNION
          SELECT a.agent_id::text
          FROM target_buyers
          JOIN agent_buyers a ON a.company_id = target_buyers.company_id
            AND a.buyer_id = target_buyers.buyer_id
          UNION
          SELECT a.agent_id::text
          FROM target_groups
          JOIN buyer_group_members m ON m.company_id = target_groups.company_id
            AND m.buyer_group_id = target_groups.buyer_group_id
          JOIN agent_buyers a ON a.company_id = m.company_id AND a.buyer_id = m.buyer_id
        )
      END AS agent_ids
  `,
  { prepared: false, nullable: ['agent_ids'] },
);

/**
 * Locks the agents that had a message and the agents that it is for now, in the order of their ids:
 * two messages that are sent at the same time cannot deadlock.
 */
export const LOCK_AGENTS_OF_MESSAGE = statement(
  'agents.lock_agents_of_message',
  sql`
    SELECT a.id::text,
      a.deleted_at IS NULL
        AND (m.agent_status_id IS NULL OR a.agent_status_id = m.agent_status_id)
        AND ({targeted}::bigint[] IS NULL OR a.id = ANY({targeted}::bigint[])) AS is_recipient
    FROM agents a, agent_messages m
    WHERE m.company_id = {company_id} AND m.id = {id}::bigint AND a.company_id = {company_id}
      AND (
        a.id = ANY({former}::bigint[])
        OR a.deleted_at IS NULL
          AND (m.agent_status_id IS NULL OR a.agent_status_id = m.agent_status_id)
          AND ({targeted}::bigint[] IS NULL OR a.id = ANY({targeted}::bigint[]))
      )
    ORDER BY a.id
    FOR NO KEY UPDATE OF a
  `,
  { prepared: false },
);

export const LOCK_AGENTS = statement(
  'agents.lock_agents',
  sql`
    SELECT id::text
    FROM agents
    WHERE company_id = {company_id} AND id = ANY({agent_ids}::bigint[])
    ORDER BY id
    FOR NO KEY UPDATE
  `,
  { prepared: false },
);

/** The rows of the agents must be locked: events are numbered without gaps. */
export const ADD_EVENTS = statement(
  'agents.add_events',
  sql`
    WITH numbered AS (
      UPDATE agents
      SET last_event_id = last_event_id + 1
      WHERE company_id = {company_id} AND id = ANY({agent_ids}::bigint[])
      RETURNING id, last_event_id
    )
    INSERT INTO agent_events (company_id, agent_id, event_id, agent_message_id)
    SELECT {company_id}, id, last_event_id, {id}::bigint
    FROM numbered
  `,
  { prepared: false },
);

/** The payload of a notification is `<company>/<agent>`. */
export const NOTIFY_AGENTS = statement(
  'agents.notify_agents',
  sql`
    SELECT pg_notify({channel}, {company_id}::bigint || '/' || agent_id)::text
    FROM unnest({agent_ids}::text[]) AS agent_id
  `,
  { prepared: false },
);
