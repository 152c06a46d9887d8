import type { Action, Plan } from '../schedules/engine/cadence';
import { decideNextStep, type ParkReason } from '../schedules/engine/next-step';
import { decideNextOfferStep, type OfferVerdict } from '../schedules/engine/offer-next-step';
import { runContactStep } from './contact-lead';
import type { Channels } from './drafts';
import { toIsoTime } from './lead-state';
import type { DueLead } from './due-lead';
import type { ContactState } from './load-leads';
import type { StepContext } from './step-context';
import { StepRecorder, type StepChanges } from './step-recorder';

export const FAULT_DELAY_MS = 600_000;
/** More steps than a reasonable schedule has at once; the rest follow in the next batch. */
const MAX_STEPS = 50;

/** Runs the steps of a locked lead that are due now, until it waits, stops or ends. */
export async function runLeadSteps(locked: DueLead, context: StepContext): Promise<StepChanges> {
  const { records, contact } = context;
  const recorder = new StepRecorder(locked, records);
  if (records.isOrphan(locked)) {
    endLead(recorder, 'disabled', context.channels);
    return recorder.result();
  }
  const plan = records.planFor(locked);
  for (let n = 0; n < MAX_STEPS; n++) {
    const { progress, events, verdict } = decideStep(recorder, plan, { records, contact });
    recorder.proceed(progress, events);
    if (await runStep(recorder, verdict, { plan, context })) return recorder.result();
  }
  recorder.wait({ at: records.now });
  return recorder.result();
}

/** Postpones a lead whose next step could not be determined, and changes nothing else. */
export function postponeLead(locked: DueLead, { records }: StepContext): StepChanges {
  const recorder = new StepRecorder(locked, records);
  const { state, now } = recorder;
  const at = new Date(now.getTime() + FAULT_DELAY_MS);
  if (state.delay_reason !== 'fault')
    recorder.log(
      'delayed',
      `the next step could not be determined; tried again at ${at.toISOString()}`,
    );
  Object.assign(state, { due_at: toIsoTime(at), delay_reason: 'fault' });
  return recorder.result();
}

function decideStep(
  { lead, progress }: StepRecorder,
  plan: Plan,
  { records, contact }: Pick<StepContext, 'records' | 'contact'>,
) {
  const { now } = records;
  const facts = { now, zones: lead.zones, conditions: records.buildContactability(lead, contact) };
  const next = lead.schedule_id === null ? decideNextOfferStep : decideNextStep;
  return next(progress, plan, facts);
}

/** Carries out a verdict. Returns true when the lead has no more steps now. */
async function runStep(
  recorder: StepRecorder,
  verdict: OfferVerdict,
  { plan, context }: { plan: Plan; context: StepContext },
): Promise<boolean> {
  switch (verdict.kind) {
    case 'contact':
      return runContactStep(recorder, verdict.action, context);
    case 'webhook':
      recorder.addWebhook(verdict.action);
      recorder.noteAction();
      return false;
    case 'opt_out':
    case 'block':
      changeContact(recorder, verdict.kind, { action: verdict.action, contact: context.contact });
      return false;
    case 'move':
      recorder.moveTo(context.records.findAction(recorder.lead, verdict.action).to_schedule_id!);
      recorder.wait({ at: recorder.now });
      return true;
    case 'park':
      park(recorder, verdict.reason);
      return true;
    case 'queue':
      recorder.setWaiting({ status: 'queue', at: verdict.at ?? null, reason: null });
      recorder.state.next_action_at = null;
      return true;
    case 'later':
      recorder.wait(verdict);
      return true;
    case 'end': {
      const { reason } = verdict;
      const isLimit = reason === 'expired' || reason === 'exceeded_max_calls';
      endLead(recorder, isLimit ? reason : finalStatus(recorder, plan), context.channels);
      return true;
    }
  }
}

const PARK_EVENTS = {
  blocked: { event: 'blocked', message: 'its number is on the blacklist' },
  opt_out: { event: 'opted_out', message: 'its number has opted out' },
  disabled: { event: 'disabled', message: 'its offer or schedule is paused' },
};

function park(recorder: StepRecorder, status: ParkReason): void {
  const { state, progress, contact_changes } = recorder;
  Object.assign(state, {
    status,
    due_at: null,
    delay_reason: null,
    next_action_at: toIsoTime(progress.not_before),
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
  const { state, progress, now } = recorder;
  Object.assign(state, {
    status,
    is_live: false,
    due_at: null,
    next_action_at: null,
    delay_reason: null,
    schedule_ended_at: toIsoTime(now),
  });
  if (progress.callback_at) recorder.endCallback('canceled', { reason: 'the lead has ended' });
  // A transaction that failed may already have asked an external service to send.
  if (state.tries > 0 || !carrier.instant || !mailer.instant) recorder.abandonDelivery();
  recorder.log('ended', status);
}

function finalStatus(recorder: StepRecorder, { actions }: Plan): string {
  const { state } = recorder;
  const status = recorder.completedStatus();
  if (status !== 'completed' || state.first_action_at !== null || actions.length === 0)
    return status;
  if (state.suppressed) return 'dnc';
  return state.unreachable ? 'failure' : 'completed';
}
