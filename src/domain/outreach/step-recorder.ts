import { completedStatus, type CompletedStatus } from '../leads/final-status';
import { applyAction, type Action, type Progress } from '../schedules/engine/cadence';
import type { DelayReason, StepEvent } from '../schedules/engine/next-step';
import type { OutreachContext } from './context';
import type { Draft } from './drafts';
import type { DueLead } from './due-lead';
import { createStepRows, type StepResult, type StepRows } from './record-steps';

/** The changes by the steps of one lead, to be recorded together with those of others. */
export interface StepChanges {
  lead: DueLead;
  rows: StepRows;
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

/** The state of a lead before its steps; it is not due again unless a step says so. */
const BEFORE_STEPS = {
  is_live: true,
  due_at: null,
  schedule_ended_at: null,
  attempted_call: null,
  connected_call: null,
  stays_claimed: false,
};

/** Reasons why a lead cannot be reached, although it has not opted out. */
const UNREACHABLE: ReadonlySet<string> = new Set(['no_email', 'no_number', 'number_not_allowed']);

/**
 * Collects the changes by the steps of one lead: its state, its progress in the schedule and the
 * rows to write. Makes no decisions and uses no database.
 */
export class StepRecorder {
  readonly lead: DueLead & StepResult;
  readonly contact_changes: ('opt_out' | 'block')[] = [];
  progress: Progress;
  private readonly rows = createStepRows();
  private readonly counts = { calls: 0, sms: 0, emails: 0 };

  constructor(
    readonly locked: DueLead,
    private readonly records: OutreachContext,
  ) {
    this.lead = { ...locked, ...BEFORE_STEPS };
    this.progress = { ...locked, not_before: locked.next_action_at };
  }

  get now(): Date {
    return this.records.now;
  }

  result(): StepChanges {
    const { locked, lead, progress, rows, contact_changes, counts } = this;
    const { phase, exit_reason, contact_attempts, entered_at, callback_at } = progress;
    const position = progress.position === Infinity ? Number.MAX_VALUE : progress.position;
    const reached = { phase, position, exit_reason, contact_attempts, entered_at, callback_at };
    // These may be long, and do not change.
    const unchanged = { data: undefined, zones: undefined };
    const { caller_number } = lead;
    const isContacted = counts.calls + counts.sms + counts.emails > 0;
    return {
      lead: locked,
      rows: {
        ...rows,
        leads: [{ ...lead, ...reached, ...unchanged }],
        contacts: isContacted ? [{ caller_number, ...counts }] : [],
        contact_changes: contact_changes.map((change) => ({ caller_number, change })),
      },
    };
  }

  /** Continues at `progress`, the result of `events`. */
  proceed(progress: Progress, events: readonly StepEvent[]): void {
    const { callback_at, phase, position } = this.progress;
    if (callback_at && !progress.callback_at)
      this.endCallback('canceled', { reason: 'the lead may not be called back' });
    const leavesStep = phase !== progress.phase || position !== progress.position;
    if (this.lead.tries > 0 && leavesStep) this.abandonDelivery();
    this.progress = progress;
    for (const event of events) this.noteEvent(event);
  }

  private noteEvent(event: StepEvent): void {
    const message = event.event === 'restarted' ? 'by its schedule' : event.reason;
    this.log(event.event, message, event.action);
    if (event.event !== 'skipped') return;
    if (event.reason === 'suppressed') this.lead.suppressed = true;
    if (UNREACHABLE.has(event.reason)) this.lead.unreachable = true;
  }

  /** Completes the current action whatever its result, or without one the callback. */
  complete(action: Action | undefined, call?: string): void {
    this.lead.tries = 0;
    if (action) {
      this.progress = applyAction(this.progress, action);
      this.lead.step += 1;
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
  }

  abandonDelivery(): void {
    this.lead.tries = 0;
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
    const { lead } = this;
    return completedStatus({
      converted: lead.buyer_converted,
      connected: (lead.connected_call ?? lead.connected_call_id) !== null,
      attempted: (lead.attempted_call ?? lead.attempted_call_id) !== null,
    });
  }

  /** Leaves the lead until `at`, for `reason` or because its schedule says so. */
  wait({ at, reason, why, action }: Wait): void {
    const { progress, locked, lead } = this;
    const { not_before } = progress;
    this.setWaiting({ status: reason ? 'scheduled' : 'waiting', at, reason: reason ?? null });
    // The lead may be due before its next action only because it may expire by then.
    lead.next_action_at = not_before && not_before > at ? not_before : at;
    const beginsWait = action?.type === 'wait' && progress.position !== locked.position;
    if (beginsWait) this.log('waiting', `until ${at.toISOString()}`, action);
    else if (reason && reason !== locked.delay_reason)
      this.log('delayed', `${reason} until ${at.toISOString()}${why ? `: ${why}` : ''}`, action);
  }

  setWaiting({ status, at, reason }: Waiting): void {
    const isInCall = this.lead.status === 'running' && status === 'waiting';
    if (!isInCall) this.lead.status = status;
    this.lead.due_at = at;
    this.lead.delay_reason = reason;
  }

  noteAction(): void {
    this.lead.first_action_at ??= this.now;
    this.lead.last_action_at = this.now;
  }

  /** Adds a delivery that the carrier or mailer accepted to the lead's state and counts. */
  noteDelivery(draft: Draft): void {
    this.noteAction();
    this.counts[KINDS[draft.table].count] += 1;
    if (draft.table === 'emails') return;
    this.assignNumber(draft);
    if (draft.table !== 'calls') return;
    const { status, uuid, routed, machine_action } = draft.row;
    this.lead.last_call_at = this.now;
    this.lead.attempted_call = uuid;
    // For a routed call, or with machine detection, it is known later who answers.
    const isAnswererKnown = !routed && machine_action === null;
    if (isAnswererKnown && (status === 'in_progress' || status === 'completed'))
      this.lead.connected_call = uuid;
    if (['queued', 'ringing', 'in_progress'].includes(status)) this.lead.status = 'running';
  }

  /** A lead keeps the number from which it was contacted. */
  private assignNumber({ row, column }: Exclude<Draft, { table: 'emails' }>): void {
    const number = this.records.findOwnNumber(this.lead, row.from_number);
    if (!number || this.lead[column] === number.id) return;
    this.lead[column] = number.id;
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
