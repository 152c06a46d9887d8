import { type Projection } from '../../data/projection/projection';
import { template, type Template } from '../../data/statement';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Caller } from '../../api/auth/caller';
import { EVENT_ROWS, MAX_EVENTS } from './queries/events';
import { selectRecords } from '../../data/projection/record-statements';

// Events tell an agent that a message is new, changed or withdrawn. They are numbered for each
// agent, without gaps, under the lock of the agent's row.

/** The agent whose user sends the request. */
export interface OwnAgent {
  id: bigint;
  /** Number of its newest event; 0 when it has none. */
  last_event_id: string;
}

/** The agent of the caller. Throws 422 on `field` if the user of the caller is no agent. */
export async function requireOwnAgent(
  db: Db,
  { user_id }: Pick<Caller, 'user_id'>,
  { field, message }: { field: string; message: string },
): Promise<OwnAgent> {
  const agent =
    user_id === null
      ? null
      : await db.prisma.agent.findFirst({ where: { user_id: BigInt(user_id), deleted_at: null } });
  if (!agent) throw HttpProblem.field(field, 'not_applicable', message);
  return { id: agent.id, last_event_id: String(agent.last_event_id) };
}

/** The agent of the caller for a list of what is `mine`; undefined for any other list. */
export const findMine = async (
  db: Db,
  caller: Pick<Caller, 'user_id'>,
  mine: boolean | undefined,
): Promise<OwnAgent | undefined> =>
  mine
    ? requireOwnAgent(db, caller, {
        field: 'mine',
        message: 'must be left out: these credentials belong to no agent',
      })
    : undefined;

/** An event, with its message as the agent may see it now. */
export interface AgentEvent {
  event_id: string;
  message_id: string;
  /** False if the agent no longer has the message. */
  is_current: boolean;
  /** JSON of the message. */
  record: string;
}

export const MAX_EVENTS_AT_ONCE = MAX_EVENTS;

/**
 * The statement that reads the events of an agent after one of them, in order. With `limited`, the
 * messages have only what a caller with a limited access scope may see.
 */
export const buildEventStatement = (projection: Projection, limited: boolean): Template => {
  const more = 't.event_id::text AS event_id, t.id::text AS message_id, t.is_current';
  const rows = selectRecords(projection, EVENT_ROWS.text, { limited, more });
  return template(`${rows} ORDER BY t.event_id`, { prepared: true });
};
