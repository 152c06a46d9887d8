import { HttpProblem } from '../errors';
import type { Caller } from '../http/auth/caller';
import { selectRecords, type Projection } from '../db/projection';
import { template, type Template } from '../db/statement';
import type { Db } from '../db/tenant';

/** The agent that a caller is. */
export interface OwnAgent {
  id: bigint;
  /** Number of the newest of its events; 0 when it has had none. */
  last_event_id: string;
}

/** The agent whose credentials these are; refuses with 422 on the field those that belong to none. */
export async function ownAgent(
  db: Db,
  { user_id }: Pick<Caller, 'user_id'>,
  { field, message }: { field: string; message: string },
): Promise<OwnAgent> {
  const text =
    'SELECT id::text, last_event_id::text FROM agents WHERE company_id = $1 AND user_id = $2::bigint AND deleted_at IS NULL';
  const [row] =
    user_id === null
      ? []
      : await db.query<{ id: string; last_event_id: string }>({
          text,
          values: [db.company_id, user_id],
        });
  if (!row) throw HttpProblem.field(field, message);
  return { ...row, id: BigInt(row.id) };
}

/** Something about a message, as it stands for the agent now. */
export interface AgentEvent {
  event_id: string;
  message_id: string;
  /** Whether the agent still has the message. */
  stands: boolean;
  /** JSON of the message. */
  record: string;
}

/** Most events that are read at once. */
export const EVENTS_AT_ONCE = 100;

const ROWS = `(SELECT m.*, e.event_id, m.deleted_at IS NULL AND EXISTS (SELECT FROM agent_message_recipients r WHERE r.company_id = e.company_id AND r.agent_id = e.agent_id AND r.agent_message_id = m.id) AS stands
  FROM agent_events e JOIN agent_messages m ON m.company_id = e.company_id AND m.id = e.agent_message_id
  WHERE e.company_id = {company_id} AND e.agent_id = {agent_id}::bigint AND e.event_id > {after}::bigint ORDER BY e.event_id LIMIT ${EVENTS_AT_ONCE})`;

/** A statement that answers the events of an agent after one of them, in order; for a limited caller with no more of them than the caller sees. */
export const agentEvents = (projection: Projection, limited: boolean): Template =>
  template(
    `${selectRecords(projection, ROWS, { limited, more: 't.event_id::text AS event_id, t.id::text AS message_id, t.stands' })} ORDER BY t.event_id`,
    {
      prepared: true,
    },
  );
