import { completedStatus, type CompletedStatus } from '../leads/final-status';
import { applyAction, type Action, type Progress } from '../schedules/engine/cadence';
import type { DelayReason, StepEvent } from '../schedules/engine/next-step';
import type { OutreachContext } from './context';
import type { Draft } from './drafts';
import type { DueLead } from './due-lead';
import { createStepRows, type LeadState, type StepRows } from './record-steps';

/** The changes by the steps of one lead, to be recorded together with those of others. */
export interface StepChanges {
  lead: DueLead;
  rows: StepRows;
  contact_changes: ('opt_out' | 'block')[];
}

interface Waiting {
  status: 'queue' | 'scheduled' | 'waiting';
  at: Date | null;
  reason: DelayReason | null;
}

interface Wait {
  at: Date;
  reason?: DelayReason;
  why?: string;
  action?: Action;
}

export const KINDS = {
  text_messages: { event: 'sms', done: 'sent', link: 'text_message', count: 'sms' },
  emails: { event: 'email', done: 'sent', link: 'email', count: 'emails' },
  calls: { event: 'call', done: 'placed', link: 'call', count: 'calls' },
} as const;

/** A time in the format for JSON parameters of statements. */
export const toIsoTime = (time: Date | null | undefined): string | null =>
  time?.toISOString() ?? null;

/** The state of a lead before its steps; it is not due again unless a step says so. */
const toLeadState = (lead: DueLead): LeadState => ({
  id: lead.id,
  status: lead.status,
  is_live: true,
  due_at: null,
  next_action_at: toIsoTime(lead.next_action_at),
  callback_at: toIsoTime(lead.callback_at),
  scheduled_callback_id: lead.scheduled_callback_id,
  entered_at: toIsoTime(lead.entered_at)!,
  first_action_at: toIsoTime(lead.first_action_at),
  last_action_at: toIsoTime(lead.last_action_at),
  last_call_at: toIsoTime(lead.last_call_at),
  schedule_ended_at: null,
  phase: lead.phase,
  position: lead.position,
  exit_reason: lead.exit_reason,
  contact_attempts: lead.contact_attempts,
  delay_reason: lead.delay_reason,
  suppressed: lead.suppressed,
  unreachable: lead.unreachable,
  step: lead.step,
  tries: lead.tries,
  sms_number_id: lead.sms_number_id,
  dial_number_id: lead.dial_number_id,
  attempted_call: null,
  connected_call: null,
  stays_claimed: false,
});

/** Reasons why a lead cannot be reached, although it has not opted out. */
const UNREACHABLE: ReadonlySet<string> = new Set(['no_email', 'no_number', 'number_not_allowed']);

/**
 * Collects the changes by the steps of one lead: its state, its progress in the schedule and the
 * rows to write. Makes no decisions and uses no database.
 */
export class StepRecorder {
  readonly lead: DueLead;
  readonly state: LeadState;
  readonly contact_changes: StepChanges['contact_changes'] = [];
  progress: Progress;
  private readonly rows = createStepRows();
  private readonly counts = { calls: 0, sms: 0, emails: 0 };

  constructor(
    readonly locked: DueLead,
    private readonly records: OutreachContext,
  ) {
    this.lead = { ...locked };
    this.state = toLeadState(locked);
    this.progress = { ...locked, not_before: locked.next_action_at };
  }

  get now(): Date {
    return this.records.now;
  }

  result(): StepChanges {
    const { progress, state } = this;
    Object.assign(state, {
      phase: progress.phase,
      position: progress.position === Infinity ? Number.MAX_VALUE : progress.position,
      exit_reason: progress.exit_reason,
      contact_attempts: progress.contact_attempts,
      entered_at: toIsoTime(progress.entered_at),
      callback_at: toIsoTime(progress.callback_at),
    });
    const { locked: lead, rows, contact_changes, counts } = this;
    const { caller_number } = lead;
    const isContacted = counts.calls + counts.sms + counts.emails > 0;
    const contacts = isContacted ? [{ caller_number, ...counts }] : [];
    return { lead, rows: { ...rows, leads: [state], contacts }, contact_changes };
  }

  /** Continues at `progress`, the result of `events`. */
  proceed(progress: Progress, events: readonly StepEvent[]): void {
    const { callback_at, phase, position } = this.progress;
    if (callback_at && !progress.callback_at)
      this.endCallback('canceled', { reason: 'the lead may not be called back' });
    const leavesStep = phase !== progress.phase || position !== progress.position;
    if (this.state.tries > 0 && leavesStep) this.abandonDelivery();
    this.progress = progress;
    for (const event of events) this.noteEvent(event);
  }

  private noteEvent(event: StepEvent): void {
    const message = event.event === 'restarted' ? 'by its schedule' : event.reason;
    this.log(event.event, message, event.action);
    if (event.event !== 'skipped') return;
    if (event.reason === 'suppressed') this.state.suppressed = true;
    if (UNREACHABLE.has(event.reason)) this.state.unreachable = true;
  }

  /** Completes the current action whatever its result, or without one the callback. */
  complete(action: Action | undefined, call?: string): void {
    this.state.tries = 0;
    if (action) {
      this.progress = applyAction(this.progress, action);
      this.lead.step += 1;
      this.state.step = this.lead.step;
      return;
    }
    this.endCallback(call ? 'done' : 'canceled', { ...(call && { call }) });
    this.progress = {
      ...this.progress,
      callback_at: null,
      contact_attempts: this.progress.contact_attempts + (call ? 1 : 0),
    };
  }

  /** Ends the callback that the lead requested. `call` is the uuid of the call that was placed. */
  endCallback(status: string, { reason, call }: { reason?: string; call?: string }): void {
    const { scheduled_callback_id: id } = this.lead;
    if (reason) this.log('skipped', `callback: ${reason}`);
    if (id) this.rows.callbacks.push({ id, status, ...(call && { call }) });
    this.lead.scheduled_callback_id = null;
    this.state.scheduled_callback_id = null;
  }

  abandonDelivery(): void {
    this.state.tries = 0;
    this.rows.abandoned.push({ lead_id: this.lead.id });
  }

  moveTo(scheduleId: string): void {
    this.rows.moves.push({
      lead_id: this.lead.id,
      schedule_id: scheduleId,
      status_if_ended: this.completedStatus(),
    });
  }

  /** The status of the lead if it ended now, by its calls and conversions. */
  completedStatus(): CompletedStatus {
    const { lead, state } = this;
    return completedStatus({
      converted: lead.buyer_converted,
      connected: (state.connected_call ?? lead.connected_call_id) !== null,
      attempted: (state.attempted_call ?? lead.attempted_call_id) !== null,
    });
  }

  /** Leaves the lead until `at`, for `reason` or because its schedule says so. */
  wait({ at, reason, why, action }: Wait): void {
    const { progress, locked, state } = this;
    const { not_before } = progress;
    this.setWaiting({ status: reason ? 'scheduled' : 'waiting', at, reason: reason ?? null });
    // The lead may be due before its next action only because it may expire by then.
    state.next_action_at = toIsoTime(not_before && not_before > at ? not_before : at);
    const beginsWait = action?.type === 'wait' && progress.position !== locked.position;
    if (beginsWait) this.log('waiting', `until ${at.toISOString()}`, action);
    else if (reason && reason !== locked.delay_reason)
      this.log('delayed', `${reason} until ${at.toISOString()}${why ? `: ${why}` : ''}`, action);
  }

  setWaiting({ status, at, reason }: Waiting): void {
    const isInCall = this.state.status === 'running' && status === 'waiting';
    if (!isInCall) this.state.status = status;
    this.state.due_at = toIsoTime(at);
    this.state.delay_reason = reason;
  }

  noteAction(): void {
    this.state.first_action_at ??= toIsoTime(this.now);
    this.state.last_action_at = toIsoTime(this.now);
  }

  /** Adds a delivery that the carrier or mailer accepted to the lead's state and counts. */
  noteDelivery(draft: Draft): void {
    this.noteAction();
    this.counts[KINDS[draft.table].count] += 1;
    if (draft.table === 'emails') return;
    this.assignNumber(draft);
    if (draft.table !== 'calls') return;
    const { status, uuid, routed, machine_action } = draft.row;
    this.state.last_call_at = toIsoTime(this.now);
    this.state.attempted_call = uuid;
    // For a routed call, or with machine detection, it is known later who answers.
    const isAnswererKnown = !routed && machine_action === null;
    if (isAnswererKnown && (status === 'in_progress' || status === 'completed'))
      this.state.connected_call = uuid;
    if (['queued', 'ringing', 'in_progress'].includes(status)) this.state.status = 'running';
  }

  /** A lead keeps the number from which it was contacted. */
  private assignNumber({ row, column }: Exclude<Draft, { table: 'emails' }>): void {
    const number = this.records.findOwnNumber(this.lead, row.from_number);
    if (!number || this.state[column] === number.id) return;
    this.lead[column] = number.id;
    this.state[column] = number.id;
    number.last_assigned_at = this.now;
    this.rows.numbers.push({ id: number.id });
  }

  addRow({ table, row }: Draft): void {
    (this.rows[table] as Draft['row'][]).push(row);
  }

  /** Logs that the webhook of an action is queued; it is queued when the steps are recorded. */
  addWebhook(action: Action): void {
    this.log('webhook_queued', null, action);
  }

  /** Adds an entry to the lead's history. `link` has the uuids of rows of this recording. */
  log(
    event: string,
    message: string | null,
    action?: Action,
    link: { call?: string; text_message?: string; email?: string } = {},
  ): void {
    this.rows.logs.push({
      lead_id: this.lead.id,
      event,
      message,
      schedule_action_id: action ? String(action.id) : null,
      ...link,
    });
  }
}
