import type { Template } from '../../data/statement';
import type { Db } from '../../data/db';
import { readFollowed } from '../../data/followers';
import { MAX_EVENTS_AT_ONCE, type AgentEvent } from './events';
import type { AgentStreams, FollowedAgent } from './streams';

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
  const { company_id } = db;
  // The position is sent first: a reader that is cut off before the first event resumes from here.
  yield `retry: ${RETRY_MS}\nid: ${followed.after}\n\n`;
  const batches = readFollowed({
    follow: () => live.follow(followed),
    read: () =>
      db.query<AgentEvent>(
        events({
          company_id,
          ...db.accessScope,
          agent_id: followed.agent_id,
          after: followed.after,
        }),
      ),
    max_rows: MAX_EVENTS_AT_ONCE,
    ...{ wait_ms, reader_gone },
  });
  for await (const batch of batches) {
    for (const event of batch) {
      followed.after = event.event_id;
      yield formatEvent(event);
    }
    if (batch.length === 0) yield ': \n\n';
  }
}

const formatEvent = ({ event_id, is_current, record, message_id }: AgentEvent): string =>
  is_current
    ? `id: ${event_id}\nevent: agent_message\ndata: ${record}\n\n`
    : `id: ${event_id}\nevent: agent_message_withdrawn\ndata: {"id":${message_id}}\n\n`;
