import { done, expiryOf, fresh, isContact, nextStep, type Action, type ActionType, type Plan, type Progress } from './cadence';
import type { Shift } from './contact-hours';
import type { Standing } from './turn';

export type Obstacle = 'opt_out' | 'blacklist' | 'suppressed' | 'paused' | 'token_filter' | 'no_email' | 'no_number' | 'no_open_hours';

/** A step that lies before a lead. */
export interface Foreseen {
  /** Null when the lead cannot come to it. */
  at: Date | null;
  kind: ActionType | 'callback' | 'leave_schedule' | 'end';
  action?: Action;
  delayed_by?: Shift;
  blocked_by?: Obstacle;
  message?: string;
}

const MOST_STEPS = 200;
const RESTART_MS = 60_000;

/** What a schedule would do to a lead from now on, if nothing else changes and every call and message goes through. Pure. */
export function outlook(
  from: Progress,
  plan: Plan,
  { now, zones, standing, in_schedule }: { now: Date; zones: readonly string[]; standing: Standing; in_schedule: boolean },
): Foreseen[] {
  const steps: Foreseen[] = [];
  let [at, progress, delayed_by, stopped] = [now, from, undefined as Shift | undefined, standing.paused ? ('paused' as Obstacle) : undefined];
  let { opt_out, blocked } = standing;
  const foresee = (step: Omit<Foreseen, 'at'>) => steps.push({ at: stopped ? null : at, ...(stopped && { blocked_by: stopped }), ...step });
  while (steps.length < MOST_STEPS) {
    if (!in_schedule && !progress.callback_at) return [...steps, ...expiry(progress, plan)];
    const { passed, next, ...step } = nextStep(progress, plan, { now: at, zones });
    ({ progress } = step);
    for (const event of passed) {
      if (event.event === 'skipped') foresee({ kind: event.action.type, action: event.action, blocked_by: 'token_filter' });
      else foresee({ kind: 'leave_schedule', message: event.reason });
    }
    if (next.kind === 'end') {
      foresee({ kind: 'end', message: next.reason });
      return steps;
    }
    if (next.kind === 'stuck') {
      stopped ??= 'no_open_hours';
      foresee({ kind: next.action?.type ?? 'callback', ...(next.action && { action: next.action }) });
      return steps;
    }
    if (next.kind === 'wait') {
      if (next.action?.type === 'wait') foresee({ kind: 'wait', action: next.action, message: `until ${next.at.toISOString()}` });
      delayed_by = next.why === 'daylight_hours' || next.why === 'business_hours' ? next.why : undefined;
      at = next.at;
      continue;
    }
    const action = next.kind === 'perform' ? next.action : undefined;
    const kind = action?.type ?? 'callback';
    if (!action || isContact(action.type)) {
      stopped ??= opt_out ? 'opt_out' : blocked ? 'blacklist' : undefined;
      const blocked_by = obstacle(kind, standing);
      foresee({ kind, ...(action && { action }), ...(delayed_by && { delayed_by }), ...(blocked_by && !stopped && { blocked_by }) });
    } else foresee({ kind, action });
    delayed_by = undefined;
    if (kind === 'move_to_schedule') return steps;
    if (kind === 'opt_out') opt_out = true;
    if (kind === 'block') blocked = true;
    progress = after(progress, action, at);
  }
  return steps;
}

function after(progress: Progress, action: Action | undefined, at: Date): Progress {
  if (!action) return { ...progress, callback_at: null, contact_attempts: progress.contact_attempts + 1 };
  if (action.type === 'exit')
    return {
      ...progress,
      phase: 'end',
      position: progress.phase === 'end' ? Infinity : null,
      exit_reason: progress.exit_reason ?? 'completed',
      not_before: null,
    };
  if (action.type === 'restart') return { ...fresh(progress.entered_at, progress.contact_attempts), not_before: new Date(at.getTime() + RESTART_MS) };
  return done(progress, action);
}

function obstacle(kind: Foreseen['kind'], { suppressed_by, has_email, has_number }: Standing): Obstacle | undefined {
  if (suppressed_by !== null) return 'suppressed';
  if (kind === 'email') return has_email ? undefined : 'no_email';
  return has_number ? undefined : 'no_number';
}

function expiry(progress: Progress, plan: Plan): Foreseen[] {
  const at = expiryOf(plan, progress);
  return at ? [{ at, kind: 'end', message: 'expired' }] : [];
}
