import { type Plan } from '../../../src/schedules/engine/cadence';
import {
  act,
  COASTS,
  DAY,
  NEVER,
  NIGHT,
  NOON,
  pause,
  planOf,
  row,
  type Walk,
  walk,
} from '../../support/next-steps';

describe('a lead leaves its schedule for the end-of-schedule actions', () => {
  const end = [act('webhook', 9)];
  const day = [pause(1, { ms: DAY })];
  const [completed, expired, exceeded] = ['completed', 'expired', 'exceeded_max_calls'].map(
    (reason) => `left_schedule ${reason}, webhook#9, end ${reason}`,
  );
  test.each<[string, Plan, string]>([
    ['after the last action', planOf(row('sms'), { end }), `sms#1, ${completed}`],
    ['of a schedule without actions', planOf([], { end }), `${completed}`],
    [
      'after hours_to_expire',
      planOf(day, { end, hours_to_expire: 2 }),
      `until 2026-06-15T18:00Z, ${expired}`,
    ],
    [
      'after expires_in',
      planOf(day, { end, expires_in: 5 }),
      `until 2026-06-15T16:05Z, ${expired}`,
    ],
    [
      'after expires_in when both are set',
      planOf(day, { end, hours_to_expire: 1, expires_in: 90 }),
      `until 2026-06-15T17:30Z, ${expired}`,
    ],
    [
      'after its calls and text messages',
      planOf(row('sms', 'dial', 'sms'), { end, max_contact_attempts: 2 }),
      `sms#1, dial#2, ${exceeded}`,
    ],
    [
      'e-mails not counted',
      planOf(row('email', 'email', 'sms'), { end, max_contact_attempts: 1 }),
      `email#1, email#2, sms#3, ${exceeded}`,
    ],
    [
      'at once, not after a wait behind the last attempt',
      planOf([act('sms', 0), ...day], { end, max_contact_attempts: 1 }),
      `sms#0, ${exceeded}`,
    ],
    [
      'by exit',
      planOf(row('exit', 'sms'), { end }),
      'left_schedule completed #1, webhook#9, end completed',
    ],
    [
      'which an exit among them cuts short',
      planOf([], { end: row('webhook', 'exit', 'sms') }),
      'left_schedule completed, webhook#1, left_schedule completed #2, end completed',
    ],
    [
      'an exit does not change why it left',
      planOf(day, { end: row('exit'), expires_in: 1 }),
      'until 2026-06-15T16:01Z, left_schedule expired, left_schedule expired #1, end expired',
    ],
    [
      'which wait, and have no limits of time and attempts',
      planOf(row('sms', 'sms'), {
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
      walk(planOf(row('sms'), { hours_to_expire: 1, max_contact_attempts: 3 }), { progress }),
    ).toBe('left_schedule expired, end expired');
  });
  const until_noon = { not_before: new Date(NOON) };
  test.each<[string, Plan, Walk, string]>([
    [
      'the morning',
      planOf(row('sms'), { hours_to_expire: 3 }),
      { from: NIGHT, steps: 1 },
      'until 2026-06-15T09:00Z daylight_hours',
    ],
    [
      'a time, and not before that when it does not expire',
      planOf([]),
      { from: NIGHT, progress: until_noon, steps: 1 },
      'until 2026-06-15T16:00Z',
    ],
    [
      'a time',
      planOf([], { hours_to_expire: 3 }),
      { from: NIGHT, progress: until_noon, steps: 1 },
      'until 2026-06-15T09:00Z',
    ],
    [
      'hours that never come',
      planOf(row('sms'), { hours: NEVER, hours_to_expire: 3 }),
      { zones: COASTS },
      'until 2026-06-15T19:00Z no_open_hours, left_schedule expired, end expired',
    ],
    [
      'hours that never come, and daily when it does not expire',
      planOf(row('sms'), { hours: NEVER }),
      { zones: COASTS, steps: 1 },
      'until 2026-06-16T16:00Z no_open_hours',
    ],
  ])('is looked at when it expires while it waits for %s', (_name, plan, options, trace) =>
    expect(walk(plan, options)).toBe(trace),
  );
});

describe('a callback', () => {
  const asked = (callback_at: string, more: Walk = {}): Walk => ({
    steps: 2,
    ...more,
    progress: { ...more.progress, callback_at: new Date(callback_at) },
  });
  const used_up = { not_before: new Date('2026-07-01T00:00Z'), contact_attempts: 1 };
  const tight = planOf(row('webhook'), { expires_in: 1, max_contact_attempts: 1 });
  test.each<[string, Plan, Walk, string]>([
    [
      'goes before the actions, a wait and the attempts',
      tight,
      asked(NOON, { progress: used_up }),
      'callback, left_schedule exceeded_max_calls, end exceeded_max_calls',
    ],
    [
      'goes before the expiry, and everything waits for it',
      tight,
      asked('2026-06-15T20:00Z'),
      'until 2026-06-15T20:00Z, callback',
    ],
    [
      'keeps to the hours of daylight',
      planOf([]),
      asked('2026-06-16T02:00Z'),
      'until 2026-06-16T02:00Z, until 2026-06-16T12:00Z daylight_hours',
    ],
    [
      'keeps to those of the strictest zone',
      planOf([]),
      asked(NIGHT, { from: '2026-06-15T13:00Z', zones: COASTS, steps: 1 }),
      'until 2026-06-15T15:00Z daylight_hours',
    ],
    [
      'waits with a lead that has opted out',
      tight,
      asked(NOON, { standing: { opt_out: true } }),
      'park opt_out',
    ],
    [
      'waits with a lead that is blocked',
      tight,
      asked(NOON, { standing: { blocked: true } }),
      'park blocked',
    ],
    [
      'is given up for a suppressed lead',
      tight,
      asked(NOON, { standing: { suppressed_by: 4 }, steps: 1 }),
      'webhook#1',
    ],
    [
      'is given up when there is no number to call from',
      tight,
      asked(NOON, { standing: { has_number: false }, steps: 1 }),
      'webhook#1',
    ],
    [
      'needs no address',
      tight,
      asked(NOON, { standing: { has_email: false }, steps: 1 }),
      'callback',
    ],
  ])('%s', (_name, plan, options, trace) => expect(walk(plan, options)).toBe(trace));
});
