import type { Failure } from '../../platform/carriers/carrier';
import type { MailFailure } from '../../platform/mail/mailer';
import type { Db } from '../../data/db';
import type { Queue } from '../../data/jobs/queue';
import type { Sql } from '../../data/sql';
import { originateCalls } from '../switches/originate';
import type { Channels, Draft } from './drafts';
import type { DueLead } from './due-lead';
import {
  CALL_IDS_OF_NUMBER,
  MESSAGE_IDS_OF_NUMBER,
  READ_CALL,
  READ_EMAIL,
  READ_TEXT_MESSAGE,
} from './queries/deliveries';
import { recordSteps, type CallRow } from './record-steps';

/** The draft can be sent inside the transaction that records it, together with others. */
export const isInstant = ({ table }: Draft, { carrier, mailer }: Channels): boolean =>
  table === 'emails' ? mailer.instant : carrier.instant;

export interface EarlierTry {
  /** When the first try began that the carrier may have accepted. */
  tried_at?: Date;
  /** The carrier's ids of other requests to the same number. */
  excludedIds?: readonly string[];
}

export interface DeliveryResult {
  draft: Draft;
  /** The carrier or mailer accepted it, though it may not have arrived. */
  ok: boolean;
  retryable: boolean;
}

/** A message for a machine is played after its greeting. */
const DETECT = { hang_up: 'at_once', connect: 'at_once', leave_message: 'for_message' } as const;

const pickDetection = ({ machine_action }: Pick<CallRow, 'machine_action'>) =>
  machine_action === null ? undefined : DETECT[machine_action];

/** Passes a draft to the carrier or the mailer, once. */
export async function sendDraft(
  draft: Draft,
  earlier: EarlierTry,
  { carrier, mailer }: Channels,
): Promise<DeliveryResult> {
  if (draft.table === 'emails') {
    const { uuid: key, from_email: from, to_email: to, subject, body, html } = draft.row;
    const content = html ? { html: body } : { text: body };
    const outcome = await mailer.send({ key, from, to, subject, ...content });
    if (!outcome.ok) return toFailed(draft, outcome);
    return toAccepted(draft, { status: 'sent', message_id: outcome.message_id });
  }
  const { uuid: key, from_number, to_number } = draft.row;
  const request = { ...earlier, key, from: `+${from_number}`, to: `+${to_number}` };
  if (draft.table === 'text_messages') {
    const outcome = await carrier.sendSms({ ...request, body: draft.row.body });
    if (!outcome.ok) return toFailed(draft, outcome);
    const { status, code, carrier_id: carrierMessageId } = outcome;
    return toAccepted(draft, {
      status,
      carrier_message_id: carrierMessageId,
      ...(code && { error_code: code }),
    });
  }
  const { connect_to, timeout_seconds, switch_id } = draft.row;
  const outcome = await carrier.placeCall({
    ...request,
    ...{ connect_to, timeout_seconds, switch_id },
    detect_machine: pickDetection(draft.row),
  });
  if (!outcome.ok) return toFailed(draft, outcome);
  const { status, code, carrier_id: carrierCallId } = outcome;
  return toAccepted(draft, {
    status,
    carrier_call_id: carrierCallId,
    ...(code && { error_code: code }),
  });
}

function toAccepted<D extends Draft>(draft: D, result: Partial<D['row']>): DeliveryResult {
  const row = { ...draft.row, error_code: null, error_message: null, ...result };
  return { draft: { ...draft, row } as Draft, ok: true, retryable: false };
}

function toFailed(draft: Draft, failure: Failure | MailFailure): DeliveryResult {
  const { retryable, code, message } = failure;
  // A row without a code may have been sent: the next try first asks the carrier about it.
  const mayBeSent = 'maybe_sent' in failure && failure.maybe_sent === true;
  const error = { code: mayBeSent ? null : code, message };
  return {
    draft: applyStatus(draft, retryable ? 'sending' : 'failed', error),
    ok: false,
    retryable,
  };
}

export function applyStatus(
  draft: Draft,
  status: string,
  { code, message }: { code: string | null; message: string | null },
): Draft {
  const row = { ...draft.row, status, error_code: code, error_message: message };
  return { ...draft, row } as Draft;
}

export interface Delivering {
  /** The transaction that locks the lead. */
  sql: Sql;
  /** A connection outside the transaction: its writes remain when the transaction fails. */
  outside: Sql;
  channels: Channels;
  now: Date;
}

/**
 * Sends a draft to an external carrier or mailer at most once, even when processes fail in between.
 * The intent is committed first: from then on, until its result is recorded, it may have been
 * sent. When an earlier try has left an intent, the carrier is asked for
 * the result of the request as it was recorded then. A mailer cannot be asked, so that the e-mail
 * is not sent again.
 */
export async function resumeDelivery(
  lead: DueLead,
  draft: Draft,
  { sql, outside, channels, now }: Delivering,
): Promise<DeliveryResult> {
  const { company_id } = draft.row;
  const earlier = await readEarlier(sql, draft);
  const certainlyNotSent =
    !earlier || (earlier.status === 'sending' && earlier.error_code !== null);
  if (certainlyNotSent) {
    await recordSteps(outside, [{ company_id, [draft.table]: [draft.row] }], now);
    return sendDraft(draft, {}, channels);
  }
  const { created_at: triedAt, status, error_code, ...content } = earlier;
  const recorded = { ...draft, row: { ...draft.row, ...content } } as Draft;
  // The carrier reported a status before the process that sent the request could record it.
  if (status !== 'sending')
    return {
      draft: applyStatus(recorded, status, { code: error_code, message: null }),
      ok: status !== 'failed',
      retryable: false,
    };
  if (draft.table === 'emails') {
    const message =
      'the process ended while the e-mail was being handed over; it is not sent again';
    return {
      draft: applyStatus(recorded, 'unknown', { code: 'unknown', message }),
      ok: false,
      retryable: false,
    };
  }
  const idsOfNumber = draft.table === 'calls' ? CALL_IDS_OF_NUMBER : MESSAGE_IDS_OF_NUMBER;
  const otherRequests = await sql(idsOfNumber, { company_id, caller_number: lead.caller_number });
  return sendDraft(
    recorded,
    { tried_at: triedAt, excludedIds: otherRequests.map(({ carrier_id }) => carrier_id) },
    channels,
  );
}

/** The row that an earlier try of the same step recorded, with its content at that time. */
async function readEarlier(sql: Sql, { table, row: { company_id, uuid } }: Draft) {
  const key = { company_id, uuid };
  switch (table) {
    case 'text_messages':
      return (await sql(READ_TEXT_MESSAGE, key))[0];
    case 'calls':
      return (await sql(READ_CALL, key))[0];
    case 'emails':
      return (await sql(READ_EMAIL, key))[0];
  }
}

interface Recorded {
  queue: Queue;
  db: Pick<Db, 'query'>;
  now: Date;
}

/**
 * Has recorded calls go on, in the transaction that has recorded them and as its last step: a call
 * that rings in the sandbox is played, and one that a switch places becomes its command.
 */
export async function followPlacedCalls(
  sql: Sql,
  calls: readonly CallRow[],
  { queue, db, now }: Recorded,
): Promise<void> {
  const ringing = calls.filter(
    ({ carrier, status }) => carrier === 'sandbox' && status === 'ringing',
  );
  await queue.addAll(
    db,
    'play_sandbox_call',
    ringing.map(({ company_id, uuid }) => ({ company_id, uuid })),
  );
  const placed = calls.map((call) => ({ ...call, detect_machine: pickDetection(call) }));
  await originateCalls(sql, placed, { queue, db, now });
}
