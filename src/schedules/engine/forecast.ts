import { done, expiryOf, fresh, isContact, nextStep, usedUp } from './cadence';
import type { Action, ActionType, Next, Plan, Progress, Step } from './cadence';
import type { Shift } from '../../time/contact-hours';
import type { Standing } from './next-step';

export type Obstacle =
  | 'opt_out'
  | 'blacklist'
  | 'suppressed'
  | 'paused'
  | 'token_filter'
  | 'no_email'
  | 'no_number'
  | 'no_open_hours';

/** A step that lies before a lead. */
export interface PlannedStep {
  /** Null when the lead cannot come to it. */
  at: Date | null;
  kind: ActionType | 'callback' | 'leave_schedule' | 'end';
  action?: Action;
  delayed_by?: Shift;
  blocked_by?: Obstacle;
  message?: string;
  /** When a wait is over. */
  until?: Date;
}

export interface Situation {
  now: Date;
  /** IANA zones the lead may be in. */
  zones: readonly string[];
  standing: Standing;
  /** Without one it waits for a call, and may have asked to be called back. */
  in_schedule: boolean;
  /** Why it does nothing at all until that is gone. */
  parked?: Obstacle;
  /** Why its next step was put off to the time that it waits for. */
  delayed_by?: Shift | 'carrier';
}

const MOST_STEPS = 200;
/** As in turn.ts: between two rounds of what restarts itself, or sends a lead to and fro. */
const SHORTEST_ROUND_MS = 60_000;

/** What comes of a lead from now on, if nothing else changes and every call and message goes through. Pure. */
export function forecast(from: Progress, plan: Plan, situation: Situation): PlannedStep[] {
  const ahead = new Ahead(from, plan, situation);
  while (ahead.steps.length < MOST_STEPS && ahead.goOn());
  return ahead.steps.slice(0, MOST_STEPS);
}

class Ahead {
  readonly steps: PlannedStep[] = [];
  private at: Date;
  private delayed_by: Shift | 'carrier' | undefined;
  /** From here on nothing is done until it is gone. */
  private stopped: Obstacle | undefined;
  /** What its own schedule has made of its number. */
  private changed: Obstacle | undefined;
  /** When the lead of an offer is over: a callback does not keep it. */
  private readonly offer_expiry: Date | undefined;
  private readonly plan: Plan;

  constructor(
    private progress: Progress,
    plan: Plan,
    private readonly situation: Situation,
  ) {
    const { now, standing, in_schedule, parked, delayed_by } = situation;
    this.at = now;
    this.delayed_by = delayed_by;
    this.stopped = standing.paused ? 'paused' : parked;
    this.plan = in_schedule ? plan : { ...plan, hours_to_expire: null, expires_in: null };
    this.offer_expiry = in_schedule ? undefined : expiryOf(plan, progress);
  }

  /** One step further; answers whether there may be more. */
  goOn(): boolean {
    const { at, progress, plan, offer_expiry } = this;
    if (
      !this.situation.in_schedule &&
      (!progress.callback_at || (offer_expiry && offer_expiry <= at))
    )
      return this.expire();
    const { passed, next, ...step } = nextStep(progress, plan, {
      now: at,
      zones: this.situation.zones,
    });
    this.progress = step.progress;
    for (const event of passed) this.pass(event);
    if (next.kind === 'end') return this.foresee({ kind: 'end', message: next.reason }, false);
    if (next.kind === 'wait') return this.wait(next);
    if (next.kind === 'stuck') return this.getStuck(next.action);
    const action = next.kind === 'perform' ? next.action : undefined;
    return action && !isContact(action.type) ? this.instruct(action) : this.contact(action);
  }

  private foresee(step: Omit<PlannedStep, 'at'>, more = true): boolean {
    const { stopped, at } = this;
    this.steps.push(stopped ? { at: null, blocked_by: stopped, ...step } : { at, ...step });
    return more;
  }

  private pass(event: Step['passed'][number]): void {
    this.delayed_by = undefined;
    if (event.event === 'skipped')
      this.foresee({ kind: event.action.type, action: event.action, blocked_by: 'token_filter' });
    else this.foresee({ kind: 'leave_schedule', message: event.reason });
  }

  private wait({ at, why, action }: Extract<Next, { kind: 'wait' }>): boolean {
    if (action?.type === 'wait') {
      this.foresee({ kind: 'wait', action, until: at });
      this.delayed_by = undefined;
    }
    // A lead whose own schedule has opted out or blocked its number is stopped wherever it then waits; others where a contact is due.
    this.stopped ??=
      this.changed ?? (action && isContact(action.type) ? this.unwilling() : undefined);
    if (why === 'daylight_hours' || why === 'business_hours') this.delayed_by = why;
    return this.goTo(at);
  }

  private goTo(at: Date): boolean {
    this.at = this.offer_expiry && this.offer_expiry < at ? this.offer_expiry : at;
    return true;
  }

  /** No hour allows the contact: all that can come of it is that the time of the lead is up. */
  private getStuck(action: Action | undefined): boolean {
    const before = this.stopped;
    this.stopped ??= (action && this.unwilling()) ?? 'no_open_hours';
    const expiry =
      this.offer_expiry ??
      (action && this.progress.phase === 'actions'
        ? expiryOf(this.plan, this.progress)
        : undefined);
    this.foresee({ kind: action?.type ?? 'callback', ...(action && { action }) }, false);
    if (this.stopped !== 'no_open_hours' || !expiry) return false;
    this.stopped = before;
    return this.goTo(expiry);
  }

  private unwilling(): Obstacle | undefined {
    const { opt_out, blocked } = this.situation.standing;
    return opt_out ? 'opt_out' : (this.changed ?? (blocked ? 'blacklist' : undefined));
  }

  /** Without action it is the callback that the lead asked for. */
  private contact(action: Action | undefined): boolean {
    const kind = action?.type ?? 'callback';
    this.stopped ??= this.unwilling();
    const passed_over = obstacle(kind, this.situation.standing);
    const blocked_by = this.stopped ?? passed_over;
    const why = this.stopped ? undefined : this.delayed_by;
    const late =
      why === 'carrier'
        ? { message: 'tried again, since it could not be sent' }
        : why && { delayed_by: why };
    this.foresee({ kind, ...(action && { action }), ...late, ...(blocked_by && { blocked_by }) });
    this.delayed_by = undefined;
    const { progress } = this;
    const attempts = progress.contact_attempts;
    if (!action)
      this.progress = {
        ...progress,
        callback_at: null,
        contact_attempts: attempts + (passed_over ? 0 : 1),
      };
    else
      this.progress = passed_over
        ? { ...done(progress, action), contact_attempts: attempts }
        : done(progress, action);
    return true;
  }

  /** An action that contacts nobody. */
  private instruct(action: Action): boolean {
    const { progress, at } = this;
    const kind = action.type;
    this.delayed_by = undefined;
    if (kind === 'restart') return this.restart(action);
    const entered = new Date(progress.entered_at.getTime() + SHORTEST_ROUND_MS);
    if (kind === 'move_to_schedule' && entered > at) {
      this.stopped ??= this.changed;
      return this.goTo(entered);
    }
    this.foresee({ kind, action });
    if (kind === 'opt_out') this.changed = 'opt_out';
    if (kind === 'block') this.changed ??= 'blacklist';
    this.progress = kind === 'exit' ? exited(progress) : done(progress, action);
    return kind !== 'move_to_schedule';
  }

  private restart(action: Action): boolean {
    const { progress, plan, at } = this;
    const over = usedUp(progress, plan, at);
    this.foresee(
      over ? { kind: 'leave_schedule', action, message: over } : { kind: 'restart', action },
    );
    const anew = fresh(progress.entered_at, progress.contact_attempts);
    this.progress = over
      ? { ...done(progress, action), exit_reason: over }
      : { ...anew, not_before: new Date(at.getTime() + SHORTEST_ROUND_MS) };
    return true;
  }

  /** The end of a lead that only waits at an offer. */
  private expire(): boolean {
    if (this.offer_expiry && this.offer_expiry > this.at) this.at = this.offer_expiry;
    return this.offer_expiry ? this.foresee({ kind: 'end', message: 'expired' }, false) : false;
  }
}

function exited(progress: Progress): Progress {
  const position = progress.phase === 'end' ? Infinity : null;
  return {
    ...progress,
    phase: 'end',
    position,
    exit_reason: progress.exit_reason ?? 'completed',
    not_before: null,
  };
}

function obstacle(
  kind: PlannedStep['kind'],
  { suppressed_by, has_email, has_number }: Standing,
): Obstacle | undefined {
  if (suppressed_by !== null) return 'suppressed';
  if (kind === 'email') return has_email ? undefined : 'no_email';
  return has_number ? undefined : 'no_number';
}
