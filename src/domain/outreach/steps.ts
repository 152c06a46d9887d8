import type { Availability } from '../routing/engine/availability';
import { computeExpiry, isAttempt, type Action, type Plan } from '../schedules/engine/cadence';
import { decideNextStep, type DelayReason, type ParkReason } from '../schedules/engine/next-step';
import { decideNextOfferStep, type OfferVerdict } from '../schedules/engine/offer-next-step';
import { applyStatus, type DeliveryResult } from './channels';
import { toConnection, type OutreachContext } from './context';
import {
  draftAction,
  draftCall,
  type Channels,
  type CompanyChannels,
  type Draft,
  type Fault,
} from './drafts';
import type { DueLead } from './due-lead';
import type { ContactState } from './load-leads';
import { KINDS, StepRecorder, type StepChanges } from './step-recorder';

// The steps of a locked lead. Each is decided, which sends nothing, and if it contacts the lead it
// is delivered: the result is a part of what the next one is decided by.

/** Sends a draft, or defers it to a separate transaction that follows at once. */
export type Deliver = (lead: DueLead, draft: Draft) => Promise<DeliveryResult | 'deferred'>;

export interface StepContext {
  records: OutreachContext;
  /** Shared by the leads of one number: a change by one of them applies to the others. */
  contact: ContactState;
  channels: CompanyChannels;
  deliver: Deliver;
  buyerFor: (lead: DueLead, offerId: string) => Promise<Availability>;
  /** Until when a lead with a deferred draft stays claimed. */
  lease_until: Date;
}

export const FAULT_DELAY_MS = 600_000;
/** More steps than a reasonable schedule has at once; the rest follow in the next batch. */
const MAX_STEPS = 50;
const MAX_TRIES = 8;
const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 3_600_000;

/**
 * A step that was decided: `delivery` is to be delivered, by an action or without one by the
 * callback that the lead requested; after `done` another step may be due; `last` has none after it.
 */
type Decision =
  | { kind: 'delivery'; draft: Draft; action: Action | undefined }
  | { kind: 'done' }
  | { kind: 'last' };

const DONE: Decision = { kind: 'done' };
const LAST: Decision = { kind: 'last' };

/** Runs the steps of a locked lead that are due now, until it waits, stops or ends. */
export async function runLeadSteps(locked: DueLead, context: StepContext): Promise<StepChanges> {
  const { records, channels } = context;
  const recorder = new StepRecorder(locked, records);
  if (records.isOrphan(locked)) {
    endLead(recorder, 'disabled', channels);
    return recorder.result();
  }
  const plan = records.planFor(locked);
  for (let n = 0; n < MAX_STEPS; n++) {
    const decision = await decideStep(recorder, plan, context);
    const isLast =
      decision.kind === 'delivery'
        ? await deliverStep(recorder, decision, context)
        : decision.kind === 'last';
    if (isLast) return recorder.result();
  }
  recorder.wait({ at: records.now });
  return recorder.result();
}

/** Postpones a lead whose next step could not be determined, and changes nothing else. */
export function postponeLead(locked: DueLead, { records }: StepContext): StepChanges {
  const recorder = new StepRecorder(locked, records);
  const { lead, now } = recorder;
  const at = new Date(now.getTime() + FAULT_DELAY_MS);
  if (lead.delay_reason !== 'fault')
    recorder.log(
      'delayed',
      `the next step could not be determined; tried again at ${at.toISOString()}`,
    );
  Object.assign(lead, { due_at: at, delay_reason: 'fault' });
  return recorder.result();
}

/** Decides the next step, and takes down what it changes. Sends nothing. */
async function decideStep(
  recorder: StepRecorder,
  plan: Plan,
  context: StepContext,
): Promise<Decision> {
  const { lead } = recorder;
  const { records, contact } = context;
  const conditions = records.buildContactability(lead, contact);
  const facts = { now: records.now, zones: lead.zones, conditions };
  const decide = lead.schedule_id === null ? decideNextOfferStep : decideNextStep;
  const { progress, events, verdict } = decide(recorder.progress, plan, facts);
  recorder.proceed(progress, events);
  return verdict.kind === 'contact'
    ? decideContact(recorder, verdict.action, context)
    : applyVerdict(recorder, verdict, { plan, context });
}

function applyVerdict(
  recorder: StepRecorder,
  verdict: Exclude<OfferVerdict, { kind: 'contact' }>,
  { plan, context }: { plan: Plan; context: StepContext },
): Decision {
  switch (verdict.kind) {
    case 'webhook':
      recorder.addWebhook(verdict.action);
      recorder.noteAction();
      return DONE;
    case 'opt_out':
    case 'block':
      changeContact(recorder, verdict.kind, { action: verdict.action, contact: context.contact });
      return DONE;
    case 'move':
      recorder.moveTo(context.records.findAction(recorder.lead, verdict.action).to_schedule_id!);
      recorder.wait({ at: recorder.now });
      return LAST;
    case 'park':
      park(recorder, verdict.reason);
      return LAST;
    case 'queue':
      recorder.setWaiting({ status: 'queue', at: verdict.at ?? null, reason: null });
      recorder.lead.next_action_at = null;
      return LAST;
    case 'later':
      recorder.wait(verdict);
      return LAST;
    case 'end': {
      const { reason } = verdict;
      const isLimit = reason === 'expired' || reason === 'exceeded_max_calls';
      endLead(recorder, isLimit ? reason : finalStatus(recorder, plan), context.channels);
      return LAST;
    }
  }
}

/** Drafts the text, call or e-mail of an action, or without one the callback of the lead. */
async function decideContact(
  recorder: StepRecorder,
  action: Action | undefined,
  context: StepContext,
): Promise<Decision> {
  const draft = draftStep(recorder, action, context);
  if ('fault' in draft) {
    recorder.lead.unreachable = true;
    recorder.log(`${KINDS[pickTable(action)].event}_failed`, draft.fault, action);
    recorder.complete(action);
    return DONE;
  }
  return (await waitForBuyer(recorder, { draft, action }, context))
    ? LAST
    : { kind: 'delivery', draft, action };
}

function draftStep(
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
  { draft, action }: { draft: Draft; action: Action | undefined },
  { records, buyerFor }: StepContext,
): Promise<boolean> {
  const { lead, now } = recorder;
  if (draft.table !== 'calls' || !draft.row.routed) return false;
  const { only_when_buyer_available } = action
    ? toConnection(records.findAction(lead, action))
    : records.findConnection(lead);
  if (!only_when_buyer_available) return false;
  const { available, look_again_at, message: why } = await buyerFor(lead, draft.row.offer_id!);
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
  if (recorder.progress.callback_at) recorder.lead.next_action_at = recorder.progress.not_before;
}

function pickTable(action: Action | undefined): Draft['table'] {
  if (!action || action.type === 'dial') return 'calls';
  return isAttempt(action.type) ? 'text_messages' : 'emails';
}

/** Delivers what was decided. Returns true when the lead has no more steps now. */
async function deliverStep(
  recorder: StepRecorder,
  { draft, action }: Extract<Decision, { kind: 'delivery' }>,
  { records, deliver, lease_until }: StepContext,
): Promise<boolean> {
  const { lead } = recorder;
  const delivery = await deliver(lead, draft);
  if (delivery === 'deferred') {
    lead.stays_claimed = true;
    lead.due_at = lease_until;
    return true;
  }
  if (!delivery.ok && delivery.retryable && lead.tries + 1 < MAX_TRIES) {
    retry(recorder, delivery, action);
    return true;
  }
  noteResult(recorder, delivery, action);
  // Tokens about calls must include this one: the next step loads them again.
  const tokensAreStale =
    draft.table === 'calls' && (records.findSchedule(lead)?.uses_calls ?? false);
  if (tokensAreStale) recorder.wait({ at: recorder.now });
  return tokensAreStale;
}

/** Postpones the step; each delay is twice as long as the one before. */
function retry(recorder: StepRecorder, delivery: DeliveryResult, action: Action | undefined): void {
  const { lead, now } = recorder;
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** lead.tries, MAX_RETRY_MS);
  recorder.addRow(delivery.draft);
  lead.tries += 1;
  postponeContact(recorder, { at: new Date(now.getTime() + delayMs), reason: 'carrier', action });
}

function noteResult(
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
  else if (row.status !== 'unknown') recorder.lead.unreachable = true;
  recorder.complete(action, table === 'calls' ? row.uuid : undefined);
}

/** A draft that may not be retried has failed. */
function toFinalDraft({ draft: message, ok, retryable }: DeliveryResult): Draft {
  if (ok || !retryable) return message;
  const { error_code: code, error_message } = message.row;
  return applyStatus(message, 'failed', { code, message: error_message });
}

const formatResult = ({ row }: Draft): string => {
  const reason = row.error_message ?? row.error_code;
  return reason ? `${row.status}: ${reason}` : row.status;
};

const PARK_EVENTS = {
  blocked: { event: 'blocked', message: 'its number is on the blacklist' },
  opt_out: { event: 'opted_out', message: 'its number has opted out' },
  disabled: { event: 'disabled', message: 'its offer or schedule is paused' },
};

function park(recorder: StepRecorder, status: ParkReason): void {
  const { lead, progress, contact_changes } = recorder;
  Object.assign(lead, {
    status,
    due_at: null,
    delay_reason: null,
    next_action_at: progress.not_before,
  });
  // An opt-out or block by the lead's own schedule has been logged.
  const isOwnChange = contact_changes.some(
    (change) => status === (change === 'block' ? 'blocked' : change),
  );
  if (!isOwnChange) recorder.log(PARK_EVENTS[status].event, PARK_EVENTS[status].message);
}

function changeContact(
  recorder: StepRecorder,
  change: 'opt_out' | 'block',
  { action, contact }: { action: Action; contact: ContactState },
): void {
  recorder.contact_changes.push(change);
  contact[change === 'block' ? 'blocked' : 'opt_out'] = true;
  recorder.log(change === 'block' ? 'blocked' : 'opted_out', 'by its schedule', action);
  recorder.noteAction();
}

function endLead(recorder: StepRecorder, status: string, { carrier, mailer }: Channels): void {
  const { lead, progress, now } = recorder;
  Object.assign(lead, {
    status,
    is_live: false,
    due_at: null,
    next_action_at: null,
    delay_reason: null,
    schedule_ended_at: now,
  });
  if (progress.callback_at) recorder.endCallback('canceled', { reason: 'the lead has ended' });
  // A transaction that failed may already have asked an external service to send.
  if (lead.tries > 0 || !carrier.instant || !mailer.instant) recorder.abandonDelivery();
  recorder.log('ended', status);
}

function finalStatus(recorder: StepRecorder, { actions }: Plan): string {
  const { lead } = recorder;
  const status = recorder.completedStatus();
  if (status !== 'completed' || lead.first_action_at !== null || actions.length === 0)
    return status;
  if (lead.suppressed) return 'dnc';
  return lead.unreachable ? 'failure' : 'completed';
}
