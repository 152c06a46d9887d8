import { EVENTS_AT_ONCE, type AgentEvent } from './events';
import type { Followed, AgentStreams } from './streams';
import type { Template } from '../db/statement';
import type { Db } from '../db/tenant';

/** Between two signs of life on a stream that has nothing to tell. */
const HEARTBEAT_MS = 15_000;
/** How long a reader waits before it connects again. */
const RETRY_MS = 2_000;

interface Follow {
  db: Db;
  live: AgentStreams;
  followed: Followed;
  /** A statement that answers the agent's events (db/agent-events.ts). */
  events: Template;
  wait_ms: number;
  reader_gone: AbortSignal;
}

/** The events of an agent after one of them, and those to come, as text of server-sent events. */
export async function* streamAgent({
  db,
  live,
  followed,
  events,
  wait_ms,
  reader_gone,
}: Follow): AsyncGenerator<string> {
  const until = performance.now() + wait_ms;
  // Whoever follows before reading misses nothing that is committed after it was read.
  const following = wait_ms > 0 ? live.follow(followed) : undefined;
  const stop = () => following?.close();
  reader_gone.addEventListener('abort', stop);
  try {
    // The position at once: who is cut off before the first event goes on from here.
    yield `retry: ${RETRY_MS}\nid: ${followed.after}\n\n`;
    while (!reader_gone.aborted) {
      const { company_id } = db;
      const found = await db.query<AgentEvent>(
        events({
          company_id,
          ...db.accessScope,
          agent_id: followed.agent_id,
          after: followed.after,
        }),
      );
      for (const event of found) {
        followed.after = event.event_id;
        yield textOf(event);
      }
      if (found.length === EVENTS_AT_ONCE) continue;
      const left = until - performance.now();
      if (!following || following.over || left <= 0) return;
      await following.rung(Math.min(HEARTBEAT_MS, left));
      if (found.length === 0) yield ': \n\n';
    }
  } finally {
    reader_gone.removeEventListener('abort', stop);
    stop();
  }
}

const textOf = ({ event_id, stands, record, message_id }: AgentEvent): string =>
  stands
    ? `id: ${event_id}\nevent: agent_message\ndata: ${record}\n\n`
    : `id: ${event_id}\nevent: agent_message_withdrawn\ndata: {"id":${message_id}}\n\n`;
