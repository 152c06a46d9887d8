import { done, expiryOf, fresh, isContact, nextStep, usedUp } from './cadence';
import type { Action, ExitReason, Facts, Next, Phase, Plan, Progress } from './cadence';

/** Why an action of the schedule is passed over. */
export type SkipReason = 'token_filter' | 'suppressed' | 'no_email' | 'no_number' | 'same_schedule';
export type ParkReason = 'blocked' | 'opt_out' | 'disabled';
export type DelayReason = 'daylight_hours' | 'business_hours' | 'no_open_hours' | 'carrier';

/** What else decides whether the lead may be contacted, looked at in the moment of sending. */
export interface Standing {
  /** Its number is on the blacklist of the company. */
  blocked: boolean;
  opt_out: boolean;
  /** Its offer or its schedule is paused. */
  paused: boolean;
  /** The suppression list that holds its number and is attached to its schedule or its offer. */
  suppressed_by: number | null;
  has_email: boolean;
  /** Whether there is a number from which it can be called or texted. */
  has_number: boolean;
}

export type TurnEvent =
  | { event: 'skipped'; action: Action; reason: SkipReason }
  | { event: 'left_schedule'; reason: ExitReason; action?: Action }
  | { event: 'restarted'; action: Action };

export type Verdict =
  /** Contact it, now. Without action it is the callback it asked for. */
  | { kind: 'contact'; action?: Action }
  | { kind: 'webhook' | 'opt_out' | 'block' | 'move'; action: Action }
  /** It stops where it is until the reason is gone. */
  | { kind: 'park'; reason: ParkReason }
  | { kind: 'later'; at: Date; reason?: DelayReason; action?: Action }
  | { kind: 'end'; reason: ExitReason };

export interface Turn {
  progress: Progress;
  events: TurnEvent[];
  verdict: Verdict;
}

/** A schedule that restarts itself, or two that send a lead to and fro, do so at most this often. */
const SHORTEST_ROUND_MS = 60_000;
/** When nobody can be contacted for fourteen days, it is looked at again after one. */
const STUCK_MS = 86_400_000;

/** What comes of a lead whose turn it is: the first thing in its schedule that is to be done now, or why nothing is. Pure. */
export function turn(from: Progress, plan: Plan, facts: Facts & { standing: Standing }): Turn {
  const { standing, now } = facts;
  const events: TurnEvent[] = [];
  if (standing.paused)
    return { progress: from, events, verdict: { kind: 'park', reason: 'disabled' } };
  let progress = from;
  for (;;) {
    const step = nextStep(progress, plan, facts);
    ({ progress } = step);
    events.push(...step.passed);
    const { next } = step;
    if (next.kind === 'end') return { progress, events, verdict: next };
    if (next.kind === 'wait' || next.kind === 'stuck') {
      const parked = next.action && isContact(next.action.type) ? stopped(standing) : undefined;
      return {
        progress,
        events,
        verdict: parked ?? {
          kind: 'later',
          ...laterOf(next, progress, plan, now),
          ...(next.action && { action: next.action }),
        },
      };
    }
    const action = next.kind === 'callback' ? undefined : next.action;
    if (action && !isContact(action.type)) {
      const done_with = instruction(action, progress, plan, now);
      if ('verdict' in done_with)
        return { progress: done_with.progress ?? progress, events, verdict: done_with.verdict };
      ({ progress } = done_with);
      events.push(done_with.event);
      continue;
    }
    const parked = stopped(standing);
    if (parked) return { progress, events, verdict: parked };
    const skip = unreachable(action, standing);
    if (!skip) return { progress, events, verdict: { kind: 'contact', ...(action && { action }) } };
    if (!action) progress = { ...progress, callback_at: null };
    else {
      events.push({ event: 'skipped', action, reason: skip });
      progress = { ...progress, position: action.position, not_before: null };
    }
  }
}

function laterOf(
  next: Extract<Next, { kind: 'wait' | 'stuck' }>,
  progress: Progress,
  plan: Plan,
  now: Date,
): { at: Date; reason?: DelayReason } {
  if (next.kind === 'wait')
    return {
      at: next.at,
      ...(next.why !== 'wait' && next.why !== 'callback' && { reason: next.why }),
    };
  // A callback goes before the expiry.
  const expiry = next.action && progress.phase === 'actions' ? expiryOf(plan, progress) : undefined;
  return {
    at: new Date(Math.min(now.getTime() + STUCK_MS, expiry?.getTime() ?? Infinity)),
    reason: 'no_open_hours',
  };
}

function stopped({ blocked, opt_out }: Standing): Verdict | undefined {
  if (opt_out) return { kind: 'park', reason: 'opt_out' };
  return blocked ? { kind: 'park', reason: 'blocked' } : undefined;
}

function unreachable(
  action: Action | undefined,
  { suppressed_by, has_email, has_number }: Standing,
): SkipReason | undefined {
  if (suppressed_by !== null) return 'suppressed';
  if (action?.type === 'email') return has_email ? undefined : 'no_email';
  return has_number ? undefined : 'no_number';
}

type Instructed =
  { verdict: Verdict; progress?: Progress } | { progress: Progress; event: TurnEvent };

/** An action that contacts nobody. */
function instruction(action: Action, progress: Progress, plan: Plan, now: Date): Instructed {
  switch (action.type) {
    case 'exit': {
      const phase: Phase = 'end';
      // Out of the end-of-schedule actions it leads to the end itself.
      const position = progress.phase === 'end' ? Infinity : null;
      const exit_reason = progress.exit_reason ?? 'completed';
      return {
        progress: { ...progress, phase, position, exit_reason, not_before: null },
        event: { event: 'left_schedule', reason: exit_reason, action },
      };
    }
    case 'restart': {
      // Attempts and the time it has are those of before: they end what restarts itself. Once they are used up it would leave again at once, and
      // restart again at its end.
      const over = usedUp(progress, plan, now);
      if (over)
        return {
          progress: { ...done(progress, action), exit_reason: over },
          event: { event: 'left_schedule', reason: over, action },
        };
      const anew = fresh(progress.entered_at, progress.contact_attempts);
      return {
        progress: { ...anew, not_before: new Date(now.getTime() + SHORTEST_ROUND_MS) },
        event: { event: 'restarted', action },
      };
    }
    case 'move_to_schedule': {
      const from = new Date(progress.entered_at.getTime() + SHORTEST_ROUND_MS);
      return from > now
        ? { verdict: { kind: 'later', at: from, action } }
        : { verdict: { kind: 'move', action } };
    }
    case 'webhook':
    case 'opt_out':
    case 'block':
      return { verdict: { kind: action.type, action }, progress: done(progress, action) };
    default:
      throw new Error(`${action.type} is no instruction`);
  }
}
