import {
  applyAction,
  buildInitialProgress,
  type Action,
  type Plan,
  type Progress,
} from '../../src/domain/schedules/engine/cadence';
import {
  decideNextStep,
  type ContactConditions,
  type NextStep,
} from '../../src/domain/schedules/engine/next-step';
import { act, EASTERN, NOON, READY } from './schedule-plans';

export * from './schedule-plans';

export const pause = (position: number, wait: Action['wait']) => act('wait', position, { wait });
export const facts = { now: new Date(NOON), zones: [EASTERN], conditions: READY };
export interface Walk {
  from?: string;
  zones?: readonly string[];
  conditions?: Partial<ContactConditions>;
  progress?: Partial<Progress>;
  steps?: number;
}
/** The progress of a lead after its verdict was carried out. */
export function performStep({ progress, verdict }: NextStep): Progress {
  if (verdict.kind !== 'contact') return progress;
  return verdict.action
    ? applyAction(progress, verdict.action)
    : { ...progress, callback_at: null, contact_attempts: progress.contact_attempts + 1 };
}
/** Performs each step at its time until the lead ends, is parked or moves. */
export function* walkSteps(
  plan: Plan,
  { from = NOON, zones = [EASTERN], conditions = {}, progress: start = {}, steps = 20 }: Walk = {},
) {
  let [now, progress, stands] = [
    new Date(from),
    { ...buildInitialProgress(new Date(from)), ...start },
    { ...READY, ...conditions },
  ];
  for (let n = 0; n < steps; n++) {
    const step = decideNextStep(progress, plan, { now, zones, conditions: stands });
    yield { ...step, now, conditions: stands };
    const { verdict } = step;
    if (verdict.kind === 'end' || verdict.kind === 'park' || verdict.kind === 'move') return;
    progress = performStep(step);
    if (verdict.kind === 'later') now = verdict.at;
    stands = {
      ...stands,
      opt_out: stands.opt_out || verdict.kind === 'opt_out',
      blocked: stands.blocked || verdict.kind === 'block',
    };
  }
}
export const shown = (at: Date) => at.toISOString().replace(':00.000Z', 'Z');
export function describeStep({ verdict, events }: NextStep): string[] {
  const passed = events.map((event) =>
    [event.event, 'reason' in event && event.reason, event.action && `#${event.action.id}`]
      .filter(Boolean)
      .join(' '),
  );
  if (verdict.kind === 'later')
    return [...passed, `until ${shown(verdict.at)}${verdict.reason ? ` ${verdict.reason}` : ''}`];
  if (verdict.kind === 'park' || verdict.kind === 'end')
    return [...passed, `${verdict.kind} ${verdict.reason}`];
  return [...passed, verdict.action ? `${verdict.action.type}#${verdict.action.id}` : 'callback'];
}
/** All steps and events as text. */
export const walk = (plan: Plan, options?: Walk) =>
  [...walkSteps(plan, options)].flatMap(describeStep).join(', ');
