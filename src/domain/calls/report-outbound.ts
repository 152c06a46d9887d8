import { isOver } from '../../platform/carriers/carrier';
import type { Db, Statements } from '../../data/db';
import type { CallReport } from '../outreach/receive-status';
import { awaitPlacing } from './answer-call';
import { handleCallEvent } from './handle-event';
import { endOutbound, type OutboundEnd } from './end-outbound';
import { FIND_OUTBOUND, RECORD_OUTBOUND_STATUS } from './queries/outbound';
import { lockCall } from './read-call';

interface OutboundReport extends CallReport {
  /** More of the end of a call in which no buyer was dialed. */
  end?: Partial<OutboundEnd>;
}

/**
 * Records what a carrier reports of an outbound call that is routed, or for which machines are
 * detected. Returns false for any other call. Reports may come twice, late, and before the call was
 * recorded. Locks the call, then caps; the lead is written later, by domain/leads/apply-calls.ts.
 * `is_locked`: the caller has locked the call, which was placed before.
 */
export async function reportOutbound(
  db: Db,
  report: OutboundReport,
  now: Date,
  { is_locked = false }: { is_locked?: boolean } = {},
): Promise<boolean> {
  const [outboundCall] = await db.sql(FIND_OUTBOUND, { key: report.key });
  if (!outboundCall) return false;
  if (!is_locked) await awaitPlacing(db, report.key);
  await db.statements((tx) => record(tx, report, now));
  // The part of the buyer in the call is handled as for an inbound call.
  const end = { event: 'completed', total_duration: report.duration } as const;
  if (isOver(report.status)) await handleCallEvent(db, report.key, end, now);
  return true;
}

async function record(db: Statements, report: OutboundReport, now: Date): Promise<void> {
  const call = await lockCall(db, report.key);
  if (!call) return;
  const { status, carrier_call_id, duration = null, end } = report;
  const callId = call.id;
  await db.sql(RECORD_OUTBOUND_STATUS, { call_id: callId, status, carrier_call_id, duration, now });
  if (!isOver(status) || call.ended_at !== null || call.round > 0) return;
  const cause = status === 'completed' ? 'completed' : null;
  await endOutbound(db, callId, { status, hangup_cause: cause, event: status, ...end }, now);
}
