import { handleCallEvent } from '../calls/handle-event';
import type { CallRow } from '../calls/read-call';
import type { CallStatus } from '../../platform/carriers/carrier';
import type { Db } from '../../data/tenant';
import { loadOfferWords } from '../routing/caller-facts';

export interface CallEnd {
  call: CallRow;
  status: CallStatus;
  /** Seconds since the caller's side was answered. */
  duration: number | undefined;
}

/**
 * Ends a call. The report of the end of the dialing says how long a buyer has talked. Without that
 * report the clock decides, up to the time that the caller was there.
 */
export async function endCall(db: Db, end: CallEnd, now: Date): Promise<void> {
  const { call, duration } = end;
  const tookCall = await wasTakenUnseen(db, end);
  const ofTaker = tookCall && { duration, took_call: tookCall };
  const event = { event: 'completed', total_duration: duration, ...ofTaker } as const;
  await handleCallEvent(db, call.id, event, now);
}

/**
 * True if a buyer had a call of which nothing was reported before it was considered over. A caller
 * who hears no greeting is only answered when a buyer is: then the caller's side lasted as long as
 * the buyer has talked.
 */
async function wasTakenUnseen(db: Db, { call, status, duration }: CallEnd): Promise<boolean> {
  const isUnseen = call.hangup_cause === 'lost' && call.connected_at === null;
  const isAnswered = status === 'completed' && (duration ?? 0) > 0;
  if (!isUnseen || !isAnswered || call.direction === 'outbound') return false;
  const words = call.offer_id === null ? undefined : await loadOfferWords(db, call.offer_id);
  return !words?.greeting_message?.trim();
}
