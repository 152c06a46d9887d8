import {
  FAILURE_CODES,
  isOver,
  type CallStatus,
  type MessageStatus,
} from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import { statusAfterReport } from '../leads/final-status';
import { recordCallStatus } from '../leads/record-call';
import { writeLogs } from '../leads/write-logs';
import { LOCK_LEAD_OF_CALL, RECORD_MESSAGE_STATUS, UPDATE_CALL } from './queries/carrier-reports';

// Reports of carriers about messages and calls. They may arrive twice, late, and before the
// delivery has been recorded. The lead is locked first, as in `runSteps`: a report waits until the
// delivery is recorded.

export interface MessageReport {
  /** The uuid of the message. */
  key: string;
  carrier_message_id: string;
  status: MessageStatus;
  error_code: string | null | undefined;
}

export async function receiveMessageStatus(
  db: Db,
  { error_code = null, ...report }: MessageReport,
  now: Date,
): Promise<void> {
  const errorMessage = error_code === null ? null : explainCode(error_code);
  await db.sql(RECORD_MESSAGE_STATUS, { ...report, error_code, error_message: errorMessage, now });
}

const explainCode = (code: string): string =>
  Object.hasOwn(FAILURE_CODES, code)
    ? FAILURE_CODES[code as keyof typeof FAILURE_CODES]
    : `the carrier says ${code.replaceAll('_', ' ')}`;

export interface CallReport {
  /** The uuid of the call. */
  key: string;
  carrier_call_id: string;
  status: CallStatus;
  /** Seconds. */
  duration: number | undefined;
}

export async function receiveCallStatus(
  db: Db,
  { key, carrier_call_id, status, duration }: CallReport,
  now: Date,
): Promise<void> {
  const hasEnded = isOver(status);
  const isAnswered = status === 'in_progress' || status === 'completed';
  await db.transaction(async (tx) => {
    const [lead] = await tx.sql(LOCK_LEAD_OF_CALL, { key });
    const [call] = await tx.sql(UPDATE_CALL, {
      key,
      status,
      carrier_call_id,
      duration: duration ?? null,
      is_answered: isAnswered,
      is_over: hasEnded,
      now,
    });
    if (!call || !lead) return;
    const { id, schedule_action_id } = call;
    const leadId = lead.id;
    await recordCallStatus(tx.sql, {
      lead_id: leadId,
      connected_call_id: isAnswered ? id : null,
      status: statusAfterReport(lead, { connected: isAnswered, is_over: hasEnded }),
      now,
    });
    if (!isAnswered && !hasEnded) return;
    const entry = {
      company_id: tx.company_id,
      lead_id: leadId,
      event: 'call_changed',
      message: hasEnded && duration !== undefined ? `${status} after ${duration} s` : status,
      schedule_action_id,
      call_id: id,
    };
    await writeLogs(tx.sql, [entry], now);
  });
}
