import type { Shift } from '../../../platform/time/contact-hours';
import {
  applyAction,
  computeExpiry,
  buildInitialProgress,
  isContact,
  findReachedLimit,
  findNextDue,
} from './cadence';
import type { Action, ActionType, Next, PassedEvent, Plan, Progress } from './cadence';
import { MIN_ROUND_MS, type ContactConditions } from './next-step';

export type Obstacle =
  | 'opt_out'
  | 'blacklist'
  | 'suppressed'
  | 'paused'
  | 'token_filter'
  | 'no_email'
  | 'no_number'
  | 'number_not_allowed'
  | 'no_open_hours';

export interface PlannedStep {
  /** Null when the lead cannot reach it. */
  at: Date | null;
  kind: ActionType | 'callback' | 'leave_schedule' | 'end';
  action?: Action;
  delayed_by?: Shift;
  blocked_by?: Obstacle;
  message?: string;
  until?: Date;
}

export interface Situation {
  now: Date;
  /** IANA zones that the lead may be in. */
  zones: readonly string[];
  conditions: ContactConditions;
  /** False for the lead of an offer: it waits for a call, and may have requested a callback. */
  in_schedule: boolean;
  /** Blocks every step until it is gone. */
  parked?: Obstacle;
  /** The reason why the next step was postponed to its current time. */
  delayed_by?: Shift | 'carrier';
}

const MAX_STEPS = 200;

/**
 * The future steps of a lead, at most 200, if nothing else changes and all calls and messages
 * succeed. Pure.
 */
export function forecast(from: Progress, plan: Plan, situation: Situation): PlannedStep[] {
  const future = new Forecast(from, plan, situation);
  while (future.steps.length < MAX_STEPS && future.advance());
  return future.steps.slice(0, MAX_STEPS);
}

class Forecast {
  readonly steps: PlannedStep[] = [];
  private at: Date;
  private delayed_by: Shift | 'carrier' | undefined;
  /** Blocks every later step until it is gone. */
  private stopped: Obstacle | undefined;
  /** The effect of the schedule's own opt-out or block on the number of the lead. */
  private changed: Obstacle | undefined;
  /** Expiry of the lead of an offer, even with a future callback. */
  private readonly offer_expiry: Date | undefined;
  private readonly plan: Plan;

  constructor(
    private progress: Progress,
    plan: Plan,
    private readonly situation: Situation,
  ) {
    const { now, conditions, in_schedule, parked, delayed_by } = situation;
    this.at = now;
    this.delayed_by = delayed_by;
    this.stopped = conditions.paused ? 'paused' : parked;
    this.plan = in_schedule ? plan : { ...plan, hours_to_expire: null, expires_in: null };
    this.offer_expiry = in_schedule ? undefined : computeExpiry(plan, progress);
  }

  /** Adds the next step; returns true when more may follow. */
  advance(): boolean {
    const { at, progress, plan, offer_expiry } = this;
    if (
      !this.situation.in_schedule &&
      (!progress.callback_at || (offer_expiry && offer_expiry <= at))
    )
      return this.expire();
    const { passed, next, ...step } = findNextDue(progress, plan, {
      now: at,
      zones: this.situation.zones,
    });
    this.progress = step.progress;
    for (const event of passed) this.addPassed(event);
    if (next.kind === 'end') return this.add({ kind: 'end', message: next.reason }, false);
    if (next.kind === 'wait') return this.wait(next);
    if (next.kind === 'stuck') return this.getStuck(next.action);
    const action = next.kind === 'perform' ? next.action : undefined;
    return action && !isContact(action.type) ? this.perform(action) : this.contact(action);
  }

  private add(step: Omit<PlannedStep, 'at'>, more = true): boolean {
    const { stopped, at } = this;
    this.steps.push(stopped ? { at: null, blocked_by: stopped, ...step } : { at, ...step });
    return more;
  }

  private addPassed(event: PassedEvent): void {
    this.delayed_by = undefined;
    if (event.event === 'skipped')
      this.add({ kind: event.action.type, action: event.action, blocked_by: 'token_filter' });
    else this.add({ kind: 'leave_schedule', message: event.reason });
  }

  private wait({ at, why, action }: Extract<Next, { kind: 'wait' }>): boolean {
    if (action?.type === 'wait') {
      this.add({ kind: 'wait', action, until: at });
      this.delayed_by = undefined;
    }
    // An opt-out or block by the schedule itself stops the lead at any wait, others at a contact.
    this.stopped ??=
      this.changed ?? (action && isContact(action.type) ? this.stopReason() : undefined);
    if (why === 'daylight_hours' || why === 'business_hours') this.delayed_by = why;
    return this.moveTo(at);
  }

  private moveTo(at: Date): boolean {
    this.at = this.offer_expiry && this.offer_expiry < at ? this.offer_expiry : at;
    return true;
  }

  /** No hour allows the contact: the lead can only expire. */
  private getStuck(action: Action | undefined): boolean {
    const before = this.stopped;
    this.stopped ??= (action && this.stopReason()) ?? 'no_open_hours';
    const expiry =
      this.offer_expiry ??
      (action && this.progress.phase === 'actions'
        ? computeExpiry(this.plan, this.progress)
        : undefined);
    this.add({ kind: action?.type ?? 'callback', ...(action && { action }) }, false);
    if (this.stopped !== 'no_open_hours' || !expiry) return false;
    this.stopped = before;
    return this.moveTo(expiry);
  }

  private stopReason(): Obstacle | undefined {
    const { opt_out, blocked } = this.situation.conditions;
    return opt_out ? 'opt_out' : (this.changed ?? (blocked ? 'blacklist' : undefined));
  }

  /** By an action or, without one, by the callback that the lead requested. */
  private contact(action: Action | undefined): boolean {
    const kind = action?.type ?? 'callback';
    this.stopped ??= this.stopReason();
    const skippedFor = findObstacle(kind, this.situation.conditions);
    const blockedBy = this.stopped ?? skippedFor;
    const why = this.stopped ? undefined : this.delayed_by;
    const late =
      why === 'carrier'
        ? { message: 'tried again, since it could not be sent' }
        : why && { delayed_by: why };
    this.add({
      kind,
      ...(action && { action }),
      ...late,
      ...(blockedBy && { blocked_by: blockedBy }),
    });
    this.delayed_by = undefined;
    const { progress } = this;
    const attempts = progress.contact_attempts;
    if (!action)
      this.progress = {
        ...progress,
        callback_at: null,
        contact_attempts: attempts + (skippedFor ? 0 : 1),
      };
    else
      this.progress = skippedFor
        ? { ...applyAction(progress, action), contact_attempts: attempts }
        : applyAction(progress, action);
    return true;
  }

  private perform(action: Action): boolean {
    const { progress, at } = this;
    const kind = action.type;
    this.delayed_by = undefined;
    if (kind === 'restart') return this.restart(action);
    const entered = new Date(progress.entered_at.getTime() + MIN_ROUND_MS);
    if (kind === 'move_to_schedule' && entered > at) {
      this.stopped ??= this.changed;
      return this.moveTo(entered);
    }
    this.add({ kind, action });
    if (kind === 'opt_out') this.changed = 'opt_out';
    if (kind === 'block') this.changed ??= 'blacklist';
    this.progress = kind === 'exit' ? applyExit(progress) : applyAction(progress, action);
    return kind !== 'move_to_schedule';
  }

  private restart(action: Action): boolean {
    const { progress, plan, at } = this;
    const limit = findReachedLimit(progress, plan, at);
    if (limit) {
      this.add({ kind: 'leave_schedule', action, message: limit });
      this.progress = { ...applyAction(progress, action), exit_reason: limit };
      return true;
    }
    this.add({ kind: 'restart', action });
    const restarted = buildInitialProgress(progress.entered_at, progress.contact_attempts);
    this.progress = { ...restarted, not_before: new Date(at.getTime() + MIN_ROUND_MS) };
    return true;
  }

  /** The end of a lead that waits for a call at an offer. */
  private expire(): boolean {
    if (this.offer_expiry && this.offer_expiry > this.at) this.at = this.offer_expiry;
    return this.offer_expiry ? this.add({ kind: 'end', message: 'expired' }, false) : false;
  }
}

function applyExit(progress: Progress): Progress {
  const position = progress.phase === 'end' ? Infinity : null;
  return {
    ...progress,
    phase: 'end',
    position,
    exit_reason: progress.exit_reason ?? 'completed',
    not_before: null,
  };
}

function findObstacle(
  kind: PlannedStep['kind'],
  { suppressed_by, has_email, has_number, number_allowed }: ContactConditions,
): Obstacle | undefined {
  if (suppressed_by !== null) return 'suppressed';
  if (kind === 'email') return has_email ? undefined : 'no_email';
  if (!number_allowed) return 'number_not_allowed';
  return has_number ? undefined : 'no_number';
}
