import { sql } from '../../../data/sql';

/** Must equal the LIMIT of EVENT_ROWS. */
export const MAX_EVENTS = 100;

/**
 * Rows for selectRecords: the messages of an agent's next events, with whether the agent still has
 * the message.
 */
export const EVENT_ROWS = sql`
  (
    SELECT m.*, e.event_id,
      m.deleted_at IS NULL AND EXISTS (
        SELECT FROM agent_message_recipients r
        WHERE r.company_id = e.company_id AND r.agent_id = e.agent_id
          AND r.agent_message_id = m.id
      ) AS is_current
    FROM agent_events e
    JOIN agent_messages m ON m.company_id = e.company_id AND m.id = e.agent_message_id
    WHERE e.company_id = {company_id} AND e.agent_id = {agent_id}::bigint
      AND e.event_id > {after}::bigint
    ORDER BY e.event_id
    LIMIT 100
  )
`;
