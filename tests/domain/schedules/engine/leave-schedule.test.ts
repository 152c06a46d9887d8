import { type Plan } from '../../../../src/domain/schedules/engine/cadence';
import {
  act,
  COASTS,
  DAY,
  NEVER,
  NIGHT,
  NOON,
  pause,
  buildPlan,
  row,
  type Walk,
  walk,
} from '../../../support/next-steps';

describe('a lead leaves its schedule for the end-of-schedule actions', () => {
  const end = [act('webhook', 9)];
  const day = [pause(1, { ms: DAY })];
  const [completed, expired, exceeded] = ['completed', 'expired', 'exceeded_max_calls'].map(
    (reason) => `left_schedule ${reason}, webhook#9, end ${reason}`,
  );
  test.each<[string, Plan, string]>([
    ['after the last action', buildPlan(row('sms'), { end }), `sms#1, ${completed}`],
    ['of a schedule without actions', buildPlan([], { end }), `${completed}`],
    [
      'after hours_to_expire',
      buildPlan(day, { end, hours_to_expire: 2 }),
      `until 2026-06-15T18:00Z, ${expired}`,
    ],
    [
      'after expires_in',
      buildPlan(day, { end, expires_in: 5 }),
      `until 2026-06-15T16:05Z, ${expired}`,
    ],
    [
      'after expires_in when both are set',
      buildPlan(day, { end, hours_to_expire: 1, expires_in: 90 }),
      `until 2026-06-15T17:30Z, ${expired}`,
    ],
    [
      'after its calls and text messages',
      buildPlan(row('sms', 'dial', 'sms'), { end, max_contact_attempts: 2 }),
      `sms#1, dial#2, ${exceeded}`,
    ],
    [
      'e-mails not counted',
      buildPlan(row('email', 'email', 'sms'), { end, max_contact_attempts: 1 }),
      `email#1, email#2, sms#3, ${exceeded}`,
    ],
    [
      'at once, not after a wait behind the last attempt',
      buildPlan([act('sms', 0), ...day], { end, max_contact_attempts: 1 }),
      `sms#0, ${exceeded}`,
    ],
    [
      'by exit',
      buildPlan(row('exit', 'sms'), { end }),
      'left_schedule completed #1, webhook#9, end completed',
    ],
    [
      'which an exit among them cuts short',
      buildPlan([], { end: row('webhook', 'exit', 'sms') }),
      'left_schedule completed, webhook#1, left_schedule completed #2, end completed',
    ],
    [
      'an exit does not change why it left',
      buildPlan(day, { end: row('exit'), expires_in: 1 }),
      'until 2026-06-15T16:01Z, left_schedule expired, left_schedule expired #1, end expired',
    ],
    [
      'which wait, and have no limits of time and attempts',
      buildPlan(row('sms', 'sms'), {
        end: [act('sms', 0), ...day, act('dial', 3)],
        max_contact_attempts: 1,
        expires_in: 1,
      }),
      'sms#1, left_schedule exceeded_max_calls, sms#0, until 2026-06-16T16:00Z, ' +
        'dial#3, end exceeded_max_calls',
    ],
  ])('%s', (_name, plan, trace) => expect(walk(plan)).toBe(trace));

  test('the time that is up goes before the attempts that are', () => {
    const progress = { entered_at: new Date('2026-06-15T14:59Z'), contact_attempts: 3 };
    expect(
      walk(buildPlan(row('sms'), { hours_to_expire: 1, max_contact_attempts: 3 }), { progress }),
    ).toBe('left_schedule expired, end expired');
  });
  const untilNoon = { not_before: new Date(NOON) };
  test.each<[string, Plan, Walk, string]>([
    [
      'the morning',
      buildPlan(row('sms'), { hours_to_expire: 3 }),
      { from: NIGHT, steps: 1 },
      'until 2026-06-15T09:00Z daylight_hours',
    ],
    [
      'a time, and not before that when it does not expire',
      buildPlan([]),
      { from: NIGHT, progress: untilNoon, steps: 1 },
      'until 2026-06-15T16:00Z',
    ],
    [
      'a time',
      buildPlan([], { hours_to_expire: 3 }),
      { from: NIGHT, progress: untilNoon, steps: 1 },
      'until 2026-06-15T09:00Z',
    ],
    [
      'hours that never come',
      buildPlan(row('sms'), { hours: NEVER, hours_to_expire: 3 }),
      { zones: COASTS },
      'until 2026-06-15T19:00Z no_open_hours, left_schedule expired, end expired',
    ],
    [
      'hours that never come, and daily when it does not expire',
      buildPlan(row('sms'), { hours: NEVER }),
      { zones: COASTS, steps: 1 },
      'until 2026-06-16T16:00Z no_open_hours',
    ],
  ])('is looked at when it expires while it waits for %s', (_name, plan, options, trace) =>
    expect(walk(plan, options)).toBe(trace),
  );
});

describe('a callback', () => {
  const buildWalk = (callbackAt: string, more: Walk = {}): Walk => ({
    steps: 2,
    ...more,
    progress: { ...more.progress, callback_at: new Date(callbackAt) },
  });
  const usedUp = { not_before: new Date('2026-07-01T00:00Z'), contact_attempts: 1 };
  const tight = buildPlan(row('webhook'), { expires_in: 1, max_contact_attempts: 1 });
  test.each<[string, Plan, Walk, string]>([
    [
      'goes before the actions, a wait and the attempts',
      tight,
      buildWalk(NOON, { progress: usedUp }),
      'callback, left_schedule exceeded_max_calls, end exceeded_max_calls',
    ],
    [
      'goes before the expiry, and everything waits for it',
      tight,
      buildWalk('2026-06-15T20:00Z'),
      'until 2026-06-15T20:00Z, callback',
    ],
    [
      'keeps to the hours of daylight',
      buildPlan([]),
      buildWalk('2026-06-16T02:00Z'),
      'until 2026-06-16T02:00Z, until 2026-06-16T12:00Z daylight_hours',
    ],
    [
      'keeps to those of the strictest zone',
      buildPlan([]),
      buildWalk(NIGHT, { from: '2026-06-15T13:00Z', zones: COASTS, steps: 1 }),
      'until 2026-06-15T15:00Z daylight_hours',
    ],
    [
      'waits with a lead that has opted out',
      tight,
      buildWalk(NOON, { conditions: { opt_out: true } }),
      'park opt_out',
    ],
    [
      'waits with a lead that is blocked',
      tight,
      buildWalk(NOON, { conditions: { blocked: true } }),
      'park blocked',
    ],
    [
      'is given up for a suppressed lead',
      tight,
      buildWalk(NOON, { conditions: { suppressed_by: 4 }, steps: 1 }),
      'webhook#1',
    ],
    [
      'is given up when there is no number to call from',
      tight,
      buildWalk(NOON, { conditions: { has_number: false }, steps: 1 }),
      'webhook#1',
    ],
    [
      'needs no address',
      tight,
      buildWalk(NOON, { conditions: { has_email: false }, steps: 1 }),
      'callback',
    ],
  ])('%s', (_name, plan, options, trace) => expect(walk(plan, options)).toBe(trace));
});
