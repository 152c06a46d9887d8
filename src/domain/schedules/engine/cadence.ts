import { type ContactHours, nextContact, type Shift } from '../../../platform/time/contact-hours';
import { toInstant, offsetAt } from '../../../platform/time/zone';

export type ActionType =
  | 'dial'
  | 'sms'
  | 'email'
  | 'wait'
  | 'webhook'
  | 'exit'
  | 'opt_out'
  | 'block'
  | 'restart'
  | 'move_to_schedule';
export type Phase = 'actions' | 'end';
/** Events of `exit_on` that end the schedule of a lead. The database ends it. */
export type ExitEvent = 'connected' | 'converted' | 'inbound_call' | 'replied' | 'opted_out';
export type ExitReason = 'completed' | 'expired' | 'exceeded_max_calls' | ExitEvent;

/** The part of an action that decides its order and time. */
export interface Action {
  id: number;
  type: ActionType;
  position: number;
  /** For a wait: milliseconds, or a time of day (minutes) in the zone of the schedule. */
  wait?: { ms: number } | { until: number };
  /** True when the tokens of the lead match its filters. */
  applies: boolean;
}

export interface Plan {
  /** In the order of positions. */
  actions: readonly Action[];
  end: readonly Action[];
  hours: ContactHours;
  hours_to_expire: number | null;
  /** Minutes, set on the lead; replaces hours_to_expire. */
  expires_in: number | null;
  max_contact_attempts: number | null;
}

export interface Progress {
  phase: Phase;
  /** Position of the last performed or skipped action; null before the first. */
  position: number | null;
  exit_reason: ExitReason | null;
  entered_at: Date;
  /** Calls and text messages so far. */
  contact_attempts: number;
  /** Requested by the lead; all actions wait until then. */
  callback_at: Date | null;
  /** No action before: the end of a wait, or a requested time. */
  not_before: Date | null;
}

export interface Facts {
  now: Date;
  /** IANA zones that the lead may be in. */
  zones: readonly string[];
}

/** An event before the next action, for the lead's history. */
export type PassedEvent =
  | { event: 'skipped'; action: Action; reason: 'token_filter' }
  | { event: 'left_schedule'; reason: ExitReason };

export type Next =
  /** A callback is a call requested by the lead, outside the order of actions. */
  | { kind: 'perform'; action: Action }
  | { kind: 'callback' }
  /** Check again at `at`: after a wait, closed hours, or at a future callback. */
  | { kind: 'wait'; at: Date; why: 'wait' | 'callback' | Shift; action?: Action }
  /** No hour of the next fourteen days allows the action. */
  | { kind: 'stuck'; action?: Action }
  | { kind: 'end'; reason: ExitReason };

export interface Due {
  progress: Progress;
  passed: PassedEvent[];
  next: Next;
}

const CONTACTS = new Set<ActionType>(['dial', 'sms', 'email']);
/** Calls and text messages count for max_contact_attempts. */
export const isAttempt = (type: ActionType): boolean => type === 'dial' || type === 'sms';
export const isContact = (type: ActionType): boolean => CONTACTS.has(type);

/** Undefined for never. */
export function computeExpiry(
  { hours_to_expire, expires_in }: Plan,
  { entered_at }: Progress,
): Date | undefined {
  const minutes = expires_in ?? (hours_to_expire === null ? null : hours_to_expire * 60);
  return minutes === null ? undefined : new Date(entered_at.getTime() + minutes * 60_000);
}

/**
 * The reason of the reached limit, which ends the actions of the schedule; undefined without one.
 */
export function findReachedLimit(
  progress: Progress,
  plan: Plan,
  now: Date,
): ExitReason | undefined {
  const expiry = computeExpiry(plan, progress);
  if (expiry && expiry <= now) return 'expired';
  return plan.max_contact_attempts !== null &&
    progress.contact_attempts >= plan.max_contact_attempts
    ? 'exceeded_max_calls'
    : undefined;
}

/**
 * The next step of the schedule for a lead, now. Skips actions whose filters do not match, starts
 * waits, and leaves the schedule for its end-of-schedule actions when a limit is reached or its
 * actions are done. Pure: the progress does not include the returned action; `applyAction` adds it.
 */
export function findNextDue(progress: Progress, plan: Plan, facts: Facts): Due {
  const passed: PassedEvent[] = [];
  let at = progress;
  const leave = (reason: ExitReason) => {
    passed.push({ event: 'left_schedule', reason });
    at = { ...at, phase: 'end', position: null, exit_reason: reason, not_before: null };
  };
  if (at.callback_at)
    return { progress: at, passed, next: toCallbackNext(at.callback_at, plan, facts) };
  const limit = at.phase === 'actions' ? findReachedLimit(at, plan, facts.now) : undefined;
  if (limit) leave(limit);
  if (at.not_before && at.not_before > facts.now)
    return {
      progress: at,
      passed,
      next: limitToExpiry({ kind: 'wait', at: at.not_before, why: 'wait' }, at, plan),
    };
  for (;;) {
    const action = (at.phase === 'actions' ? plan.actions : plan.end).find(
      ({ position }) => at.position === null || position > at.position,
    );
    if (!action && at.phase === 'end')
      return { progress: at, passed, next: { kind: 'end', reason: at.exit_reason ?? 'completed' } };
    if (!action) leave('completed');
    else if (!action.applies) {
      passed.push({ event: 'skipped', action, reason: 'token_filter' });
      at = { ...at, position: action.position };
    } else if (action.type === 'wait') {
      const until = endOfWait(action, plan, facts.now);
      at = { ...at, position: action.position, not_before: until };
      if (until > facts.now)
        return {
          progress: at,
          passed,
          next: limitToExpiry({ kind: 'wait', at: until, why: 'wait', action }, at, plan),
        };
    } else
      return {
        progress: at,
        passed,
        next: limitToExpiry(toAllowedNext(action, plan, facts), at, plan),
      };
  }
}

/** The progress after the action was performed. */
export function applyAction(progress: Progress, action: Action): Progress {
  const attempts = progress.contact_attempts + (isAttempt(action.type) ? 1 : 0);
  return { ...progress, position: action.position, contact_attempts: attempts, not_before: null };
}

/** The progress of a lead that starts its schedule at `now`. */
export const buildInitialProgress = (now: Date, contactAttempts = 0): Progress => ({
  phase: 'actions',
  position: null,
  exit_reason: null,
  entered_at: now,
  contact_attempts: contactAttempts,
  callback_at: null,
  not_before: null,
});

function toCallbackNext(callbackAt: Date, { hours }: Plan, { now, zones }: Facts): Next {
  if (callbackAt > now) return { kind: 'wait', at: callbackAt, why: 'callback' };
  const open = nextContact(hours, zones, now);
  if (!open) return { kind: 'stuck' };
  return open.shifted_by
    ? { kind: 'wait', at: open.at, why: open.shifted_by }
    : { kind: 'callback' };
}

function toAllowedNext(action: Action, { hours }: Plan, { now, zones }: Facts): Next {
  if (!isContact(action.type)) return { kind: 'perform', action };
  const open = nextContact(hours, zones, now);
  if (!open) return { kind: 'stuck', action };
  return open.shifted_by
    ? { kind: 'wait', at: open.at, why: open.shifted_by, action }
    : { kind: 'perform', action };
}

/** A waiting lead is checked again no later than its expiry. */
function limitToExpiry(next: Next, progress: Progress, plan: Plan): Next {
  const expiry = progress.phase === 'actions' ? computeExpiry(plan, progress) : undefined;
  return next.kind === 'wait' && expiry && expiry < next.at ? { ...next, at: expiry } : next;
}

function endOfWait({ wait }: Action, { hours: { business_zone } }: Plan, now: Date): Date {
  if (!wait) return now;
  if ('ms' in wait) return new Date(now.getTime() + wait.ms);
  const local = now.getTime() + offsetAt(business_zone, now);
  const midnight = local - (local % 86_400_000);
  const today = toInstant(new Date(midnight + wait.until * 60_000), business_zone);
  return today > now
    ? today
    : toInstant(new Date(midnight + 86_400_000 + wait.until * 60_000), business_zone);
}
