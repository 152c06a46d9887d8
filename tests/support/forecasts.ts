import {
  buildInitialProgress,
  type Plan,
  type Progress,
} from '../../src/domain/schedules/engine/cadence';
import {
  forecast,
  type PlannedStep,
  type Situation,
} from '../../src/domain/schedules/engine/forecast';
import type { ContactConditions } from '../../src/domain/schedules/engine/next-step';
import { act, EASTERN, NOON, READY } from './schedule-plans';

export * from './schedule-plans';

export const pause = (position: number, ms: number) => act('wait', position, { wait: { ms } });
export interface View extends Partial<Omit<Situation, 'now' | 'conditions'>> {
  from?: string;
  conditions?: Partial<ContactConditions>;
  progress?: Partial<Progress>;
}
export function buildForecast(
  plan: Plan,
  { from = NOON, conditions = {}, progress = {}, ...more }: View = {},
): PlannedStep[] {
  const now = new Date(from);
  const situation = {
    now,
    zones: [EASTERN],
    conditions: { ...READY, ...conditions },
    in_schedule: true,
    ...more,
  };
  return forecast({ ...buildInitialProgress(now), ...progress }, plan, situation);
}
export const formatTime = (at: Date | null) =>
  at?.toISOString().slice(5).replace(':00.000Z', '') ?? 'never';
export const describeStep = ({
  at,
  kind,
  action,
  delayed_by,
  blocked_by,
  message,
}: PlannedStep): string =>
  [
    formatTime(at),
    kind,
    action && `#${action.id}`,
    message,
    delayed_by && `(${delayed_by})`,
    blocked_by && `!${blocked_by}`,
  ]
    .filter(Boolean)
    .join(' ');
/** All planned steps, in words. */
export const words = (plan: Plan, view?: View) =>
  buildForecast(plan, view).map(describeStep).join(', ');
