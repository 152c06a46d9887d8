import type { Failure } from '../../platform/carriers/carrier';
import type { MailFailure } from '../../platform/mail/mailer';
import type { Channels, Draft } from './drafts';

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
  const { connect_to, machine_action } = draft.row;
  const { timeout_seconds } = draft;
  const detectMachine = machine_action === null ? undefined : DETECT[machine_action];
  const outcome = await carrier.placeCall({
    ...request,
    connect_to,
    timeout_seconds,
    detect_machine: detectMachine,
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
