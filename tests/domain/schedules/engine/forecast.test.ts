import { type Plan } from '../../../../src/domain/schedules/engine/cadence';
import {
  act,
  COASTS,
  DAY,
  DAYLIGHT,
  buildForecast,
  HOUR,
  NEVER,
  NIGHT,
  NOON,
  pause,
  buildPlan,
  row,
  type View,
  words,
} from '../../../support/forecasts';

describe('a forecast says', () => {
  const all = buildPlan(row('sms', 'email', 'dial', 'webhook'));
  const over = '06-15T16:00 leave_schedule completed, 06-15T16:00 end completed';
  test.each<[string, Plan, View, string]>([
    [
      'each action with its time, and the end',
      all,
      {},
      `06-15T16:00 sms #1, 06-15T16:00 email #2, 06-15T16:00 dial #3, ` +
        `06-15T16:00 webhook #4, ${over}`,
    ],
    [
      'a wait when it begins, and what is behind it when it is over',
      buildPlan([pause(1, DAY), act('webhook', 2)]),
      {},
      '06-15T16:00 wait #1, 06-16T16:00 webhook #2, 06-16T16:00 leave_schedule ' +
        'completed, 06-16T16:00 end completed',
    ],
    [
      'a wait that has begun by what is behind it',
      buildPlan([pause(1, DAY), act('webhook', 2)]),
      { progress: { position: 1, not_before: new Date('2026-06-16T03:00Z') } },
      '06-16T03:00 webhook #2, 06-16T03:00 leave_schedule completed, 06-16T03:00 end completed',
    ],
    [
      'the end-of-schedule actions',
      buildPlan([], { end: [act('sms', 1)] }),
      {},
      '06-15T16:00 leave_schedule completed, 06-15T16:00 sms #1, 06-15T16:00 end completed',
    ],
    [
      'the exit',
      buildPlan(row('exit', 'sms')),
      {},
      '06-15T16:00 exit #1, 06-15T16:00 end completed',
    ],
    [
      'nothing behind a move to another schedule, which is a minute after it came at the earliest',
      buildPlan(row('move_to_schedule', 'sms')),
      {},
      '06-15T16:01 move_to_schedule #1',
    ],
    [
      'the callback before all others',
      buildPlan(row('webhook')),
      { progress: { callback_at: new Date('2026-06-15T18:00Z') } },
      '06-15T18:00 callback, 06-15T18:00 webhook #1, 06-15T18:00 leave_schedule ' +
        'completed, 06-15T18:00 end completed',
    ],
  ])('%s', (_name, plan, view, trace) => expect(words(plan, view)).toBe(trace));
});

describe('a postponed contact', () => {
  const after = (at: string) => `${at} leave_schedule completed, ${at} end completed`;
  const monday = { ...DAYLIGHT, business_open: [1440 + 600, 1440 + 720] };
  test.each<[string, Plan, View, string]>([
    [
      'until daylight says so',
      buildPlan(row('sms', 'email')),
      { from: NIGHT },
      `06-15T12:00 sms #1 (daylight_hours), 06-15T12:00 email #2, ${after('06-15T12:00')}`,
    ],
    [
      'until the business opens too',
      buildPlan(row('dial'), { hours: monday }),
      { from: NIGHT },
      `06-15T14:00 dial #1 (daylight_hours), ${after('06-15T14:00')}`,
    ],
    [
      'to the hours of the business of next week',
      buildPlan(row('dial'), { hours: monday }),
      {},
      `06-22T14:00 dial #1 (business_hours), ${after('06-22T14:00')}`,
    ],
    [
      'once, by the engine, still says why',
      buildPlan(row('sms')),
      {
        from: NIGHT,
        progress: { not_before: new Date('2026-06-15T12:00Z') },
        delayed_by: 'daylight_hours',
      },
      `06-15T12:00 sms #1 (daylight_hours), ${after('06-15T12:00')}`,
    ],
    [
      'by a carrier that was down, says so in words',
      buildPlan(row('sms')),
      { progress: { not_before: new Date('2026-06-15T16:01Z') }, delayed_by: 'carrier' },
      `06-15T16:01 sms #1 tried again, since it could not be sent, ${after('06-15T16:01')}`,
    ],
    [
      'says so alone: a wait before it does not',
      buildPlan([pause(1, HOUR), act('sms', 2)]),
      { from: NIGHT },
      `06-15T06:00 wait #1, 06-15T12:00 sms #2 (daylight_hours), ${after('06-15T12:00')}`,
    ],
    [
      'and is not listed when it is not reached in time',
      buildPlan(row('sms'), { end: row('webhook'), expires_in: 60 }),
      { from: NIGHT },
      '06-15T07:00 leave_schedule expired, 06-15T07:00 webhook #1, 06-15T07:00 end expired',
    ],
  ])('%s', (_name, plan, view, trace) => expect(words(plan, view)).toBe(trace));
});

describe('a step that will not be done has a reason', () => {
  const plan = buildPlan([
    act('webhook', 1),
    act('email', 2),
    act('sms', 3, { applies: false }),
    act('dial', 4),
  ]);
  const last = '06-15T16:00 leave_schedule completed, 06-15T16:00 end completed';
  const never = (obstacle: string, ...steps: string[]) =>
    steps.map((step) => `never ${step} !${obstacle}`).join(', ');
  const rest = ['leave_schedule completed', 'end completed'];
  const stopped = (obstacle: string) =>
    never(obstacle, 'email #2').concat(
      ', never sms #3 !token_filter, ',
      never(obstacle, 'dial #4', ...rest),
    );
  test.each<[string, Partial<View>, string]>([
    [
      'the tokens do not meet its filter',
      {},
      `06-15T16:00 webhook #1, 06-15T16:00 email #2, 06-15T16:00 sms #3 ` +
        `!token_filter, 06-15T16:00 dial #4, ${last}`,
    ],
    [
      'the number is suppressed',
      { conditions: { suppressed_by: 4 } },
      `06-15T16:00 webhook #1, 06-15T16:00 email #2 !suppressed, 06-15T16:00 sms ` +
        `#3 !token_filter, 06-15T16:00 dial #4 !suppressed, ${last}`,
    ],
    [
      'there is no address',
      { conditions: { has_email: false } },
      `06-15T16:00 webhook #1, 06-15T16:00 email #2 !no_email, 06-15T16:00 sms ` +
        `#3 !token_filter, 06-15T16:00 dial #4, ${last}`,
    ],
    [
      'there is no number to call from',
      { conditions: { has_number: false } },
      `06-15T16:00 webhook #1, 06-15T16:00 email #2, 06-15T16:00 sms #3 ` +
        `!token_filter, 06-15T16:00 dial #4 !no_number, ${last}`,
    ],
    [
      'the number opted out: a contact stops all that is behind it',
      { conditions: { opt_out: true } },
      `06-15T16:00 webhook #1, ${stopped('opt_out')}`,
    ],
    [
      'the number is on the blacklist',
      { conditions: { blocked: true } },
      `06-15T16:00 webhook #1, ${stopped('blacklist')}`,
    ],
    [
      'the lead has been stopped already',
      { conditions: { opt_out: true }, parked: 'opt_out' },
      `never webhook #1 !opt_out, ${stopped('opt_out')}`,
    ],
    [
      'the schedule is paused, whatever else',
      { conditions: { paused: true, opt_out: true }, parked: 'opt_out' },
      `never webhook #1 !paused, ${stopped('paused')}`,
    ],
  ])('%s', (_name, view, trace) => expect(words(plan, view)).toBe(trace));

  test.each<[string, Plan, View, string]>([
    [
      'a schedule that opts its lead out stops at the next contact',
      buildPlan(row('opt_out', 'webhook', 'sms')),
      {},
      '06-15T16:00 opt_out #1, 06-15T16:00 webhook #2, never sms #3 !opt_out, ' +
        'never leave_schedule completed !opt_out, never end completed !opt_out',
    ],
    [
      'or behind the next wait',
      buildPlan([act('block', 1), pause(2, HOUR), act('webhook', 3)]),
      {},
      '06-15T16:00 block #1, 06-15T16:00 wait #2, never webhook #3 !blacklist, ' +
        'never leave_schedule completed !blacklist, never end completed !blacklist',
    ],
    [
      'no hour ever allows it',
      buildPlan(row('sms'), { hours: NEVER }),
      { zones: COASTS },
      'never sms #1 !no_open_hours',
    ],
    [
      'no hour ever allows it, until the time of the lead is up',
      buildPlan(row('sms'), { hours: NEVER, hours_to_expire: 3, end: row('webhook', 'dial') }),
      { zones: COASTS },
      'never sms #1 !no_open_hours, 06-15T19:00 leave_schedule expired, ' +
        '06-15T19:00 webhook #1, never dial #2 !no_open_hours',
    ],
    [
      'a lead that has opted out is not kept by hours',
      buildPlan(row('sms'), { hours: NEVER }),
      { zones: COASTS, conditions: { opt_out: true } },
      'never sms #1 !opt_out',
    ],
    [
      'a skipped contact is not an attempt',
      buildPlan(row('sms', 'email'), { max_contact_attempts: 1 }),
      { conditions: { has_number: false } },
      '06-15T16:00 sms #1 !no_number, 06-15T16:00 email #2, 06-15T16:00 ' +
        'leave_schedule completed, 06-15T16:00 end completed',
    ],
    [
      'a callback that may not be made',
      buildPlan(row('sms'), { max_contact_attempts: 1 }),
      { conditions: { suppressed_by: 4 }, progress: { callback_at: new Date(NOON) } },
      '06-15T16:00 callback !suppressed, 06-15T16:00 sms #1 !suppressed, ' +
        '06-15T16:00 leave_schedule completed, 06-15T16:00 end completed',
    ],
  ])('%s', (_name, of, view, trace) => expect(words(of, view)).toBe(trace));
});

describe('what ends a schedule', () => {
  const day = [pause(1, DAY), act('sms', 2)];
  test.each<[string, Plan, string]>([
    [
      'hours_to_expire',
      buildPlan(day, { hours_to_expire: 2, end: row('webhook') }),
      '06-15T16:00 wait #1, 06-15T18:00 leave_schedule expired, 06-15T18:00 ' +
        'webhook #1, 06-15T18:00 end expired',
    ],
    [
      'expires_in, in minutes',
      buildPlan(day, { hours_to_expire: 2, expires_in: 5 }),
      '06-15T16:00 wait #1, 06-15T16:05 leave_schedule expired, 06-15T16:05 end expired',
    ],
    [
      'max_contact_attempts',
      buildPlan(row('sms', 'dial', 'sms'), { max_contact_attempts: 2 }),
      '06-15T16:00 sms #1, 06-15T16:00 dial #2, 06-15T16:00 leave_schedule ' +
        'exceeded_max_calls, 06-15T16:00 end exceeded_max_calls',
    ],
    [
      'a restart that comes when attempts are used up goes no further round',
      buildPlan(row('sms'), { max_contact_attempts: 1, end: row('webhook', 'restart', 'email') }),
      '06-15T16:00 sms #1, 06-15T16:00 leave_schedule exceeded_max_calls, ' +
        '06-15T16:00 webhook #1, 06-15T16:00 leave_schedule #2 ' +
        'exceeded_max_calls, 06-15T16:00 email #3, 06-15T16:00 end exceeded_max_calls',
    ],
    [
      'a restart goes round until the time is up',
      buildPlan(row('webhook', 'restart'), { expires_in: 2 }),
      '06-15T16:00 webhook #1, 06-15T16:00 restart #2, 06-15T16:01 webhook #1, ' +
        '06-15T16:01 restart #2, 06-15T16:02 leave_schedule expired, 06-15T16:02 end expired',
    ],
  ])('%s', (_name, plan, trace) => expect(words(plan)).toBe(trace));

  test.each([
    ['a restart without end', row('sms', 'restart')],
    ['a restart of nothing', row('restart')],
    [
      'more actions than that, done or skipped',
      Array.from({ length: 300 }, (_, n) => act('sms', n, { applies: n % 3 === 0 })),
    ],
    [
      'three hundred that are all skipped',
      Array.from({ length: 300 }, (_, n) => act('sms', n, { applies: false })),
    ],
  ])('200 steps, for %s', (_name, actions) =>
    expect(buildForecast(buildPlan(actions))).toHaveLength(200),
  );
});
