import {
  applyAction,
  computeExpiry,
  buildInitialProgress,
  isContact,
  findReachedLimit,
  findNextDue,
} from './cadence';
import type { Action, ExitReason, Facts, Next, Phase, Plan, Progress } from './cadence';

export type SkipReason =
  'token_filter' | 'suppressed' | 'no_email' | 'no_number' | 'number_not_allowed' | 'same_schedule';
export type ParkReason = 'blocked' | 'opt_out' | 'disabled';
export type DelayReason =
  'daylight_hours' | 'business_hours' | 'no_open_hours' | 'carrier' | 'no_buyer';

/** Conditions for contacting the lead, as read at the time of sending. */
export interface ContactConditions {
  /** The number is on the blacklist of the company, or blocked for the offer or schedule. */
  blocked: boolean;
  opt_out: boolean;
  /** The offer or the schedule is paused. */
  paused: boolean;
  /** Id of a suppression list of its schedule or offer that contains the number. */
  suppressed_by: number | null;
  has_email: boolean;
  /** True when the company has a number to call or text the lead from. */
  has_number: boolean;
  /**
   * True when the company calls and texts numbers of this kind (src/data/phone/contact-policy.ts).
   */
  number_allowed: boolean;
}

export type StepEvent =
  | { event: 'skipped'; action: Action; reason: SkipReason }
  | { event: 'left_schedule'; reason: ExitReason; action?: Action }
  | { event: 'restarted'; action: Action };

export type Verdict =
  /** Contact the lead now: by an action, or without one by the requested callback. */
  | { kind: 'contact'; action?: Action }
  | { kind: 'webhook' | 'opt_out' | 'block' | 'move'; action: Action }
  | { kind: 'park'; reason: ParkReason }
  | { kind: 'later'; at: Date; reason?: DelayReason; action?: Action }
  | { kind: 'end'; reason: ExitReason };

export interface NextStep {
  progress: Progress;
  events: StepEvent[];
  verdict: Verdict;
}

/** Minimum time between two restarts of a schedule, or two moves between schedules. */
export const MIN_ROUND_MS = 60_000;
/** A lead that cannot be contacted for fourteen days is checked again after one. */
const RETRY_STUCK_MS = 86_400_000;

interface Situation extends Facts {
  conditions: ContactConditions;
}

/** Decides the next step of a lead now, or the reason for none. Pure. */
export function decideNextStep(from: Progress, plan: Plan, facts: Situation): NextStep {
  const { conditions } = facts;
  const events: StepEvent[] = [];
  if (conditions.paused)
    return { progress: from, events, verdict: { kind: 'park', reason: 'disabled' } };
  let progress = from;
  for (;;) {
    const { next, passed, ...due } = findNextDue(progress, plan, facts);
    ({ progress } = due);
    events.push(...passed);
    if (next.kind === 'end') return { progress, events, verdict: next };
    if (next.kind === 'wait' || next.kind === 'stuck')
      return { progress, events, verdict: toWaitVerdict(next, progress, plan, facts) };
    const action = next.kind === 'callback' ? undefined : next.action;
    const outcome =
      action && !isContact(action.type)
        ? applyInstruction(action, progress, plan, facts.now)
        : decideContact(action, progress, conditions);
    progress = outcome.progress ?? progress;
    if ('verdict' in outcome) return { progress, events, verdict: outcome.verdict };
    if (outcome.event) events.push(outcome.event);
  }
}

/** The result of an action: a verdict, or an event after which the next action follows. */
type Outcome =
  { verdict: Verdict; progress?: Progress } | { progress: Progress; event?: StepEvent };

/** A contact by an action or, without one, by the callback that the lead requested. */
function decideContact(
  action: Action | undefined,
  progress: Progress,
  conditions: ContactConditions,
): Outcome {
  const parked = findParkVerdict(conditions);
  if (parked) return { verdict: parked };
  const reason = findSkipReason(action, conditions);
  if (!reason) return { verdict: { kind: 'contact', ...(action && { action }) } };
  if (!action) return { progress: { ...progress, callback_at: null } };
  return {
    progress: { ...progress, position: action.position, not_before: null },
    event: { event: 'skipped', action, reason },
  };
}

type Waiting = Extract<Next, { kind: 'wait' | 'stuck' }>;

/** A lead that waits for a contact it refuses stops at once. */
function toWaitVerdict(
  next: Waiting,
  progress: Progress,
  plan: Plan,
  { conditions, now }: Situation,
): Verdict {
  const parked =
    next.action && isContact(next.action.type) ? findParkVerdict(conditions) : undefined;
  if (parked) return parked;
  const later = toDelay(next, progress, plan, now);
  return { kind: 'later', ...later, ...(next.action && { action: next.action }) };
}

function toDelay(
  next: Waiting,
  progress: Progress,
  plan: Plan,
  now: Date,
): { at: Date; reason?: DelayReason } {
  if (next.kind === 'wait')
    return {
      at: next.at,
      ...(next.why !== 'wait' && next.why !== 'callback' && { reason: next.why }),
    };
  // Expiry does not end a callback.
  const expiry =
    next.action && progress.phase === 'actions' ? computeExpiry(plan, progress) : undefined;
  return {
    at: new Date(Math.min(now.getTime() + RETRY_STUCK_MS, expiry?.getTime() ?? Infinity)),
    reason: 'no_open_hours',
  };
}

function findParkVerdict({ blocked, opt_out }: ContactConditions): Verdict | undefined {
  if (opt_out) return { kind: 'park', reason: 'opt_out' };
  return blocked ? { kind: 'park', reason: 'blocked' } : undefined;
}

function findSkipReason(
  action: Action | undefined,
  { suppressed_by, has_email, has_number, number_allowed }: ContactConditions,
): SkipReason | undefined {
  if (suppressed_by !== null) return 'suppressed';
  if (action?.type === 'email') return has_email ? undefined : 'no_email';
  if (!number_allowed) return 'number_not_allowed';
  return has_number ? undefined : 'no_number';
}

function applyInstruction(action: Action, progress: Progress, plan: Plan, now: Date): Outcome {
  switch (action.type) {
    case 'exit': {
      const phase: Phase = 'end';
      // Among the end-of-schedule actions, an exit leads to the end itself.
      const position = progress.phase === 'end' ? Infinity : null;
      const exitReason = progress.exit_reason ?? 'completed';
      return {
        progress: { ...progress, phase, position, exit_reason: exitReason, not_before: null },
        event: { event: 'left_schedule', reason: exitReason, action },
      };
    }
    case 'restart':
      return applyRestart(action, progress, plan, now);
    case 'move_to_schedule': {
      const from = new Date(progress.entered_at.getTime() + MIN_ROUND_MS);
      return from > now
        ? { verdict: { kind: 'later', at: from, action } }
        : { verdict: { kind: 'move', action } };
    }
    case 'webhook':
    case 'opt_out':
    case 'block':
      return { verdict: { kind: action.type, action }, progress: applyAction(progress, action) };
    default:
      throw new Error(`${action.type} is no instruction`);
  }
}

/**
 * Attempts and the time of entry stay, so that a schedule that restarts itself ends. When a limit
 * is reached the lead leaves instead: otherwise it would leave at once and restart at its end.
 */
function applyRestart(action: Action, progress: Progress, plan: Plan, now: Date): Outcome {
  const limit = findReachedLimit(progress, plan, now);
  if (limit)
    return {
      progress: { ...applyAction(progress, action), exit_reason: limit },
      event: { event: 'left_schedule', reason: limit, action },
    };
  const restarted = buildInitialProgress(progress.entered_at, progress.contact_attempts);
  return {
    progress: { ...restarted, not_before: new Date(now.getTime() + MIN_ROUND_MS) },
    event: { event: 'restarted', action },
  };
}
