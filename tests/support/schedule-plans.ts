import type { Action, ActionType, Plan } from '../../src/domain/schedules/engine/cadence';
import type { ContactConditions } from '../../src/domain/schedules/engine/next-step';

// Schedules and leads that tests of the engine look at.

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
export const DAYLIGHT = {
  daylight: [480, 1259],
  business_open: [],
  business_zone: EASTERN,
} as const;
/** Hours that never overlap on both coasts. */
export const NEVER = { ...DAYLIGHT, daylight: [480, 659] } as const;
export const UNLIMITED = { hours_to_expire: null, expires_in: null, max_contact_attempts: null };
export const buildPlan = (actions: Action[], more: Partial<Plan> = {}): Plan => ({
  actions,
  end: [],
  hours: DAYLIGHT,
  ...UNLIMITED,
  ...more,
});
export const READY: ContactConditions = {
  blocked: false,
  opt_out: false,
  paused: false,
  suppressed_by: null,
  has_email: true,
  has_number: true,
  number_allowed: true,
};
