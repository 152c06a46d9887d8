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
import {
  LOCK_LEAD_OF_CALL,
  LOCK_LEAD_OF_MESSAGE,
  UPDATE_CALL,
  UPDATE_MESSAGE,
} from './queries/carrier-reports';

// Reports of carriers about messages and calls. They may arrive twice, late, and before the
// delivery has been recorded. The lead is locked first, as in `runSteps`: a report waits until the
// delivery is recorded.

export interface MessageReport {
  /** The uuid of the message. */
  key: string;
  carrier_message_id: string;
  status: MessageStatus;
  error_code: string | undefined;
}

const FINAL_MESSAGE_STATUSES: readonly string[] = ['delivered', 'undelivered', 'failed'];

export async function receiveMessageStatus(
  db: Db,
  { key, carrier_message_id, status, error_code }: MessageReport,
  now: Date,
): Promise<void> {
  const errorMessage = error_code === undefined ? null : explainCode(error_code);
  await db.transaction(async (tx) => {
    await tx.sql(LOCK_LEAD_OF_MESSAGE, { key });
    const [message] = await tx.sql(UPDATE_MESSAGE, {
      key,
      status,
      error_code: error_code ?? null,
      error_message: errorMessage,
      carrier_message_id,
      now,
    });
    if (!message?.lead_id || !FINAL_MESSAGE_STATUSES.includes(status)) return;
    const { id, lead_id, schedule_action_id } = message;
    const entry = {
      company_id: tx.company_id,
      lead_id,
      event: 'sms_changed',
      message: errorMessage ? `${status}: ${errorMessage}` : status,
      schedule_action_id,
      text_message_id: id,
    };
    await writeLogs(tx.sql, [entry], now);
  });
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
