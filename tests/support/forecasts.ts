import {
  initialProgress,
  type Action,
  type ActionType,
  type Plan,
  type Progress,
} from '../../src/schedules/engine/cadence';
import { forecast, type PlannedStep, type Situation } from '../../src/schedules/engine/forecast';
import { type Standing } from '../../src/schedules/engine/next-step';

export const [EASTERN, PACIFIC, LONDON] = [
  'America/New_York',
  'America/Los_Angeles',
  'Europe/London',
] as const;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A Monday, 12:00 in New York. */
export const NOON = '2026-06-15T16:00Z';
export const NIGHT = '2026-06-15T06:00Z';
export const COASTS = [EASTERN, PACIFIC];
export const act = (type: ActionType, position: number, more: Partial<Action> = {}): Action => ({
  id: position,
  type,
  position,
  applies: true,
  ...more,
});
export const row = (...types: ActionType[]) => types.map((type, n) => act(type, n + 1));
export const pause = (position: number, ms: number) => act('wait', position, { wait: { ms } });
export const DAYLIGHT = {
  daylight: [480, 1259],
  business_open: [],
  business_zone: EASTERN,
} as const;
/** No such hour is one on both coasts. */
export const NEVER = { ...DAYLIGHT, daylight: [480, 659] } as const;
export const UNLIMITED = { hours_to_expire: null, expires_in: null, max_contact_attempts: null };
export const planOf = (actions: Action[], more: Partial<Plan> = {}): Plan => ({
  actions,
  end: [],
  hours: DAYLIGHT,
  ...UNLIMITED,
  ...more,
});
export const READY: Standing = {
  blocked: false,
  opt_out: false,
  paused: false,
  suppressed_by: null,
  has_email: true,
  has_number: true,
  number_allowed: true,
};
export interface View extends Partial<Omit<Situation, 'now' | 'standing'>> {
  from?: string;
  standing?: Partial<Standing>;
  progress?: Partial<Progress>;
}
export function forecastOf(
  plan: Plan,
  { from = NOON, standing = {}, progress = {}, ...more }: View = {},
): PlannedStep[] {
  const now = new Date(from);
  const situation = {
    now,
    zones: [EASTERN],
    standing: { ...READY, ...standing },
    in_schedule: true,
    ...more,
  };
  return forecast({ ...initialProgress(now), ...progress }, plan, situation);
}
export const shown = (at: Date | null) =>
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
    shown(at),
    kind,
    action && `#${action.id}`,
    message,
    delayed_by && `(${delayed_by})`,
    blocked_by && `!${blocked_by}`,
  ]
    .filter(Boolean)
    .join(' ');
/** All that is foreseen, in words. */
export const words = (plan: Plan, view?: View) =>
  forecastOf(plan, view).map(describeStep).join(', ');
