import type { Template } from '../../data/statement';
import type { Db } from '../../data/db';
import { MAX_EVENTS_AT_ONCE, type AgentEvent } from './events';
import type { AgentStreams, FollowedAgent } from './streams';

/** A stream without events sends a comment this often. */
const HEARTBEAT_MS = 15_000;
/** How long readers wait before they reconnect. */
const RETRY_MS = 2_000;

interface StreamOptions {
  db: Db;
  live: AgentStreams;
  followed: FollowedAgent;
  /** Built by `buildEventStatement` (events.ts). */
  events: Template;
  wait_ms: number;
  reader_gone: AbortSignal;
}

/**
 * Yields the events of an agent after a position, as text of server-sent events: first the existing
 * ones, then new ones until `wait_ms` have passed, the reader is gone, or the stream must end.
 */
export async function* streamAgent({
  db,
  live,
  followed,
  events,
  wait_ms,
  reader_gone,
}: StreamOptions): AsyncGenerator<string> {
  const until = performance.now() + wait_ms;
  // Followed before the first read, so that no event between the two is missed.
  const following = wait_ms > 0 ? live.follow(followed) : undefined;
  const stop = () => following?.close();
  reader_gone.addEventListener('abort', stop);
  try {
    // The position is sent first: a reader that is cut off before the first event resumes from
    // here.
    yield `retry: ${RETRY_MS}\nid: ${followed.after}\n\n`;
    while (!reader_gone.aborted) {
      const { company_id } = db;
      const newEvents = await db.query<AgentEvent>(
        events({
          company_id,
          ...db.accessScope,
          agent_id: followed.agent_id,
          after: followed.after,
        }),
      );
      for (const event of newEvents) {
        followed.after = event.event_id;
        yield formatEvent(event);
      }
      if (newEvents.length === MAX_EVENTS_AT_ONCE) continue;
      const left = until - performance.now();
      if (!following || following.over || left <= 0) return;
      await following.wait(Math.min(HEARTBEAT_MS, left));
      if (newEvents.length === 0) yield ': \n\n';
    }
  } finally {
    reader_gone.removeEventListener('abort', stop);
    stop();
  }
}

const formatEvent = ({ event_id, is_current, record, message_id }: AgentEvent): string =>
  is_current
    ? `id: ${event_id}\nevent: agent_message\ndata: ${record}\n\n`
    : `id: ${event_id}\nevent: agent_message_withdrawn\ndata: {"id":${message_id}}\n\n`;
