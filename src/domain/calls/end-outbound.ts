import type { Statements } from '../../data/db';
import { END_OUTBOUND } from './queries/outbound';
import type { NewEvent } from './record-call';

/** How an outbound call ends in which no buyer is dialed. */
export interface OutboundEnd extends Pick<NewEvent, 'event' | 'message' | 'details'> {
  status: string;
  /** Null or absent where the call keeps its own. */
  hangup_cause?: string | null;
  fallback?: string | null;
  abandoned?: boolean;
}

/** Ends an outbound call, and queues it for its lead. Locks the call. */
export async function endOutbound(
  db: Pick<Statements, 'sql'>,
  callId: number,
  ending: OutboundEnd,
  now: Date,
): Promise<void> {
  await db.sql(END_OUTBOUND, { call_id: callId, ending: JSON.stringify(ending), now });
}
