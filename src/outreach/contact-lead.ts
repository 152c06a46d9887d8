import { expiryOf, isAttempt, type Action } from '../schedules/engine/cadence';
import type { DelayReason } from '../schedules/engine/next-step';
import { connectionBy } from './context';
import { withStatus, type Sent } from './deliver';
import { draft, draftCall, type Draft, type Fault } from './draft';
import { iso } from './lead-state';
import type { StepContext } from './step-context';
import { KINDS, type StepRecorder } from './step-recorder';

const MAX_TRIES = 8;
const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 3_600_000;

/**
 * Texts, calls or e-mails a lead by an action of its schedule, or without one calls it back at its
 * request. Returns true when the lead has no more steps now.
 */
export async function contactLead(
  recorder: StepRecorder,
  action: Action | undefined,
  context: StepContext,
): Promise<boolean> {
  const { outreach, send, lease_until } = context;
  const { lead, state } = recorder;
  const message = draftOf(recorder, action, context);
  if ('fault' in message) {
    state.unreachable = true;
    recorder.log(`${KINDS[tableOf(action)].event}_failed`, message.fault, action);
    recorder.complete(action);
    return false;
  }
  if (await waitsForBuyer(recorder, { message, action }, context)) return true;
  const sent = await send(lead, message);
  if (sent === 'deferred') {
    state.keeps_claim = true;
    state.due_at = iso(lease_until);
    return true;
  }
  if (!sent.ok && sent.retryable && state.tries + 1 < MAX_TRIES) {
    retry(recorder, sent, action);
    return true;
  }
  recordResult(recorder, sent, action);
  // Tokens about calls must include this one: the next step loads them again.
  const tokens_are_stale =
    message.table === 'calls' && (outreach.scheduleOf(lead)?.uses_calls ?? false);
  if (tokens_are_stale) recorder.wait({ at: recorder.now });
  return tokens_are_stale;
}

function draftOf(
  { lead }: StepRecorder,
  action: Action | undefined,
  { outreach, channels }: StepContext,
): Draft | Fault {
  if (action) return draft(lead, outreach.actionOf(lead, action), { outreach, channels });
  return draftCall(lead, outreach.connectionOf(lead), { outreach, channels });
}

/**
 * Delays a call that no buyer would take now. It is checked again when hours or caps change; the
 * lead expires as usual in the meantime.
 */
async function waitsForBuyer(
  recorder: StepRecorder,
  { message, action }: { message: Draft; action: Action | undefined },
  { outreach, buyerFor }: StepContext,
): Promise<boolean> {
  const { lead, now } = recorder;
  if (message.table !== 'calls' || !message.row.routed) return false;
  const { only_when_buyer_available } = action
    ? connectionBy(outreach.actionOf(lead, action))
    : outreach.connectionOf(lead);
  if (!only_when_buyer_available) return false;
  const { available, look_again_at, message: why } = await buyerFor(lead, message.row.offer_id!);
  if (available) return false;
  const expiry = expiryOf(outreach.planFor(lead), recorder.progress);
  const expires_first = expiry && expiry > now && expiry < look_again_at;
  putOffContact(recorder, {
    at: expires_first ? expiry : look_again_at,
    reason: 'no_buyer',
    action,
    ...(why && { why }),
  });
  return true;
}

interface PutOff {
  at: Date;
  reason: DelayReason;
  why?: string;
  action: Action | undefined;
}

/** Postpones a contact. A callback delays only itself, not the next action of the schedule. */
function putOffContact(recorder: StepRecorder, { action, ...wait }: PutOff): void {
  recorder.wait({ ...wait, ...(action && { action }) });
  if (recorder.progress.callback_at)
    recorder.state.next_action_at = iso(recorder.progress.not_before);
}

function tableOf(action: Action | undefined): Draft['table'] {
  if (!action || action.type === 'dial') return 'calls';
  return isAttempt(action.type) ? 'text_messages' : 'emails';
}

/** Postpones the step; each delay is twice as long as the one before. */
function retry(recorder: StepRecorder, sent: Sent, action: Action | undefined): void {
  const { state, now } = recorder;
  const delay_ms = Math.min(FIRST_RETRY_MS * 2 ** state.tries, MAX_RETRY_MS);
  recorder.addRow(sent.draft);
  state.tries += 1;
  putOffContact(recorder, { at: new Date(now.getTime() + delay_ms), reason: 'carrier', action });
}

function recordResult(recorder: StepRecorder, sent: Sent, action: Action | undefined): void {
  const { ok } = sent;
  const result = finalDraft(sent);
  const { row, table } = result;
  const { event, done, link } = KINDS[table];
  recorder.addRow(result);
  recorder.log(`${event}_${ok ? done : 'failed'}`, resultText(result), action, {
    [link]: row.uuid,
  });
  if (ok) recorder.noteDelivery(result);
  else if (row.status !== 'unknown') recorder.state.unreachable = true;
  recorder.complete(action, table === 'calls' ? row.uuid : undefined);
}

/** A draft that may not be retried has failed. */
function finalDraft({ draft: message, ok, retryable }: Sent): Draft {
  if (ok || !retryable) return message;
  const { error_code: code, error_message } = message.row;
  return withStatus(message, 'failed', { code, message: error_message });
}

export const resultText = ({ row }: Draft): string => {
  const reason = row.error_message ?? row.error_code;
  return reason ? `${row.status}: ${reason}` : row.status;
};
