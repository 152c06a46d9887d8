import { sql, statement } from '../../../data/sql';

/**
 * Open streams that have new events, or that must end because their agent is deleted or their
 * credentials are no longer valid. `n` is the position in the arrays, from 1.
 */
export const FIND_STREAMS_TO_WAKE = statement(
  'agents.find_streams_to_wake',
  sql`
    SELECT followed.n::int, (agent.id IS NULL OR token.id IS NULL) AS must_end
    FROM unnest(
        {company_ids}::bigint[], {agent_ids}::bigint[], {access_token_ids}::bigint[],
        {positions}::bigint[]
      ) WITH ORDINALITY AS followed(company_id, agent_id, access_token_id, position, n)
    LEFT JOIN agents agent ON agent.company_id = followed.company_id
      AND agent.id = followed.agent_id AND agent.deleted_at IS NULL
    LEFT JOIN access_tokens token ON token.company_id = followed.company_id
      AND token.id = followed.access_token_id AND token.deleted_at IS NULL
      AND (token.expires_at IS NULL OR token.expires_at > {now}::timestamptz)
      AND (
        token.superuser
        OR EXISTS (
          SELECT FROM access_control_list_users m
          JOIN access_control_lists team ON team.company_id = m.company_id
            AND team.id = m.access_control_list_id AND team.deleted_at IS NULL
          WHERE m.company_id = token.company_id AND m.user_id = token.user_id
            AND (team.superuser OR 'agent_messages:read' = ANY(team.permissions))
        )
      )
    WHERE agent.id IS NULL OR token.id IS NULL OR agent.last_event_id > followed.position
  `,
  { prepared: false },
);
