import { computeExpiry, isAttempt, type Action } from '../schedules/engine/cadence';
import type { DelayReason } from '../schedules/engine/next-step';
import { toConnection } from './context';
import { applyStatus, type DeliveryResult } from './deliver';
import { draftAction, draftCall, type Draft, type Fault } from './drafts';
import { toIsoTime } from './lead-state';
import type { StepContext } from './step-context';
import { KINDS, type StepRecorder } from './step-recorder';

const MAX_TRIES = 8;
const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 3_600_000;

/**
 * Texts, calls or e-mails a lead by an action of its schedule, or without one calls it back at its
 * request. Returns true when the lead has no more steps now.
 */
export async function runContactStep(
  recorder: StepRecorder,
  action: Action | undefined,
  context: StepContext,
): Promise<boolean> {
  const { records, send, lease_until } = context;
  const { lead, state } = recorder;
  const message = draftMessage(recorder, action, context);
  if ('fault' in message) {
    state.unreachable = true;
    recorder.log(`${KINDS[pickTable(action)].event}_failed`, message.fault, action);
    recorder.complete(action);
    return false;
  }
  if (await waitForBuyer(recorder, { message, action }, context)) return true;
  const delivery = await send(lead, message);
  if (delivery === 'deferred') {
    state.keeps_claim = true;
    state.due_at = toIsoTime(lease_until);
    return true;
  }
  if (!delivery.ok && delivery.retryable && state.tries + 1 < MAX_TRIES) {
    retry(recorder, delivery, action);
    return true;
  }
  recordResult(recorder, delivery, action);
  // Tokens about calls must include this one: the next step loads them again.
  const tokensAreStale =
    message.table === 'calls' && (records.findSchedule(lead)?.uses_calls ?? false);
  if (tokensAreStale) recorder.wait({ at: recorder.now });
  return tokensAreStale;
}

function draftMessage(
  { lead }: StepRecorder,
  action: Action | undefined,
  { records, channels }: StepContext,
): Draft | Fault {
  if (action) return draftAction(lead, records.findAction(lead, action), { records, channels });
  return draftCall(lead, records.findConnection(lead), { records, channels });
}

/**
 * Delays a call that no buyer would take now. It is checked again when hours or caps change; the
 * lead expires as usual in the meantime.
 */
async function waitForBuyer(
  recorder: StepRecorder,
  { message, action }: { message: Draft; action: Action | undefined },
  { records, buyerFor }: StepContext,
): Promise<boolean> {
  const { lead, now } = recorder;
  if (message.table !== 'calls' || !message.row.routed) return false;
  const { only_when_buyer_available } = action
    ? toConnection(records.findAction(lead, action))
    : records.findConnection(lead);
  if (!only_when_buyer_available) return false;
  const { available, look_again_at, message: why } = await buyerFor(lead, message.row.offer_id!);
  if (available) return false;
  const expiry = computeExpiry(records.planFor(lead), recorder.progress);
  const expiresFirst = expiry && expiry > now && expiry < look_again_at;
  postponeContact(recorder, {
    at: expiresFirst ? expiry : look_again_at,
    reason: 'no_buyer',
    action,
    ...(why && { why }),
  });
  return true;
}

interface Postponement {
  at: Date;
  reason: DelayReason;
  why?: string;
  action: Action | undefined;
}

/** Postpones a contact. A callback delays only itself, not the next action of the schedule. */
function postponeContact(recorder: StepRecorder, { action, ...wait }: Postponement): void {
  recorder.wait({ ...wait, ...(action && { action }) });
  if (recorder.progress.callback_at)
    recorder.state.next_action_at = toIsoTime(recorder.progress.not_before);
}

function pickTable(action: Action | undefined): Draft['table'] {
  if (!action || action.type === 'dial') return 'calls';
  return isAttempt(action.type) ? 'text_messages' : 'emails';
}

/** Postpones the step; each delay is twice as long as the one before. */
function retry(recorder: StepRecorder, delivery: DeliveryResult, action: Action | undefined): void {
  const { state, now } = recorder;
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** state.tries, MAX_RETRY_MS);
  recorder.addRow(delivery.draft);
  state.tries += 1;
  postponeContact(recorder, { at: new Date(now.getTime() + delayMs), reason: 'carrier', action });
}

function recordResult(
  recorder: StepRecorder,
  delivery: DeliveryResult,
  action: Action | undefined,
): void {
  const { ok } = delivery;
  const result = toFinalDraft(delivery);
  const { row, table } = result;
  const { event, done, link } = KINDS[table];
  recorder.addRow(result);
  recorder.log(`${event}_${ok ? done : 'failed'}`, formatResult(result), action, {
    [link]: row.uuid,
  });
  if (ok) recorder.noteDelivery(result);
  else if (row.status !== 'unknown') recorder.state.unreachable = true;
  recorder.complete(action, table === 'calls' ? row.uuid : undefined);
}

/** A draft that may not be retried has failed. */
function toFinalDraft({ draft: message, ok, retryable }: DeliveryResult): Draft {
  if (ok || !retryable) return message;
  const { error_code: code, error_message } = message.row;
  return applyStatus(message, 'failed', { code, message: error_message });
}

export const formatResult = ({ row }: Draft): string => {
  const reason = row.error_message ?? row.error_code;
  return reason ? `${row.status}: ${reason}` : row.status;
};
