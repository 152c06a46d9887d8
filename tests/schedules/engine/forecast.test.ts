import fc from 'fast-check';
import {
  done,
  expiryOf,
  initialProgress,
  type Action,
  type ActionType,
  type Plan,
  type Progress,
} from '../../../src/schedules/engine/cadence';
import { nextOfferStep, type OfferVerdict } from '../../../src/schedules/engine/offer-next-step';
import { forecast, type PlannedStep, type Situation } from '../../../src/schedules/engine/forecast';
import { nextStep, type Standing, type NextStep } from '../../../src/schedules/engine/next-step';

const [EASTERN, PACIFIC, LONDON] = [
  'America/New_York',
  'America/Los_Angeles',
  'Europe/London',
] as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Monday, 12:00 in New York. */
const NOON = '2026-06-15T16:00Z';
const NIGHT = '2026-06-15T06:00Z';
const COASTS = [EASTERN, PACIFIC];

const act = (type: ActionType, position: number, more: Partial<Action> = {}): Action => ({
  id: position,
  type,
  position,
  applies: true,
  ...more,
});
const row = (...types: ActionType[]) => types.map((type, n) => act(type, n + 1));
const pause = (position: number, ms: number) => act('wait', position, { wait: { ms } });
const DAYLIGHT = { daylight: [480, 1259], business_open: [], business_zone: EASTERN } as const;
/** No such hour is one on both coasts. */
const NEVER = { ...DAYLIGHT, daylight: [480, 659] } as const;
const UNLIMITED = { hours_to_expire: null, expires_in: null, max_contact_attempts: null };
const planOf = (actions: Action[], more: Partial<Plan> = {}): Plan => ({
  actions,
  end: [],
  hours: DAYLIGHT,
  ...UNLIMITED,
  ...more,
});
const READY: Standing = {
  blocked: false,
  opt_out: false,
  paused: false,
  suppressed_by: null,
  has_email: true,
  has_number: true,
};

interface View extends Partial<Omit<Situation, 'now' | 'standing'>> {
  from?: string;
  standing?: Partial<Standing>;
  progress?: Partial<Progress>;
}
function foresee(
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

const shown = (at: Date | null) => at?.toISOString().slice(5).replace(':00.000Z', '') ?? 'never';
const told = ({ at, kind, action, delayed_by, blocked_by, message }: PlannedStep): string =>
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
const words = (plan: Plan, view?: View) => foresee(plan, view).map(told).join(', ');

describe('of what lies before a lead is told', () => {
  const all = planOf(row('sms', 'email', 'dial', 'webhook'));
  const over = '06-15T16:00 leave_schedule completed, 06-15T16:00 end completed';
  test.each<[string, Plan, View, string]>([
    [
      'each action with its time, and the end',
      all,
      {},
      `06-15T16:00 sms #1, 06-15T16:00 email #2, 06-15T16:00 dial #3, 06-15T16:00 webhook #4, ${over}`,
    ],
    [
      'a wait when it begins, and what is behind it when it is over',
      planOf([pause(1, DAY), act('webhook', 2)]),
      {},
      '06-15T16:00 wait #1, 06-16T16:00 webhook #2, 06-16T16:00 leave_schedule completed, 06-16T16:00 end completed',
    ],
    [
      'a wait that has begun by what is behind it',
      planOf([pause(1, DAY), act('webhook', 2)]),
      { progress: { position: 1, not_before: new Date('2026-06-16T03:00Z') } },
      '06-16T03:00 webhook #2, 06-16T03:00 leave_schedule completed, 06-16T03:00 end completed',
    ],
    [
      'the end-of-schedule actions',
      planOf([], { end: [act('sms', 1)] }),
      {},
      '06-15T16:00 leave_schedule completed, 06-15T16:00 sms #1, 06-15T16:00 end completed',
    ],
    ['the exit', planOf(row('exit', 'sms')), {}, '06-15T16:00 exit #1, 06-15T16:00 end completed'],
    [
      'nothing behind a move to another schedule, which is a minute after it came at the earliest',
      planOf(row('move_to_schedule', 'sms')),
      {},
      '06-15T16:01 move_to_schedule #1',
    ],
    [
      'the callback before all others',
      planOf(row('webhook')),
      { progress: { callback_at: new Date('2026-06-15T18:00Z') } },
      '06-15T18:00 callback, 06-15T18:00 webhook #1, 06-15T18:00 leave_schedule completed, 06-15T18:00 end completed',
    ],
  ])('%s', (_name, plan, view, trace) => expect(words(plan, view)).toBe(trace));
});

describe('a contact that is put off', () => {
  const after = (at: string) => `${at} leave_schedule completed, ${at} end completed`;
  const monday = { ...DAYLIGHT, business_open: [1440 + 600, 1440 + 720] };
  test.each<[string, Plan, View, string]>([
    [
      'until daylight says so',
      planOf(row('sms', 'email')),
      { from: NIGHT },
      `06-15T12:00 sms #1 (daylight_hours), 06-15T12:00 email #2, ${after('06-15T12:00')}`,
    ],
    [
      'until the business opens too',
      planOf(row('dial'), { hours: monday }),
      { from: NIGHT },
      `06-15T14:00 dial #1 (daylight_hours), ${after('06-15T14:00')}`,
    ],
    [
      'to the hours of the business of next week',
      planOf(row('dial'), { hours: monday }),
      {},
      `06-22T14:00 dial #1 (business_hours), ${after('06-22T14:00')}`,
    ],
    [
      'once, by the engine, still says why',
      planOf(row('sms')),
      {
        from: NIGHT,
        progress: { not_before: new Date('2026-06-15T12:00Z') },
        delayed_by: 'daylight_hours',
      },
      `06-15T12:00 sms #1 (daylight_hours), ${after('06-15T12:00')}`,
    ],
    [
      'by a carrier that was down, says so in words',
      planOf(row('sms')),
      { progress: { not_before: new Date('2026-06-15T16:01Z') }, delayed_by: 'carrier' },
      `06-15T16:01 sms #1 tried again, since it could not be sent, ${after('06-15T16:01')}`,
    ],
    [
      'says so alone: a wait before it does not',
      planOf([pause(1, HOUR), act('sms', 2)]),
      { from: NIGHT },
      `06-15T06:00 wait #1, 06-15T12:00 sms #2 (daylight_hours), ${after('06-15T12:00')}`,
    ],
    [
      'and is not reached in time is not told',
      planOf(row('sms'), { end: row('webhook'), expires_in: 60 }),
      { from: NIGHT },
      '06-15T07:00 leave_schedule expired, 06-15T07:00 webhook #1, 06-15T07:00 end expired',
    ],
  ])('%s', (_name, plan, view, trace) => expect(words(plan, view)).toBe(trace));
});

describe('a step that will not be done says why', () => {
  const plan = planOf([
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
      `06-15T16:00 webhook #1, 06-15T16:00 email #2, 06-15T16:00 sms #3 !token_filter, 06-15T16:00 dial #4, ${last}`,
    ],
    [
      'the number is suppressed',
      { standing: { suppressed_by: 4 } },
      `06-15T16:00 webhook #1, 06-15T16:00 email #2 !suppressed, 06-15T16:00 sms #3 !token_filter, 06-15T16:00 dial #4 !suppressed, ${last}`,
    ],
    [
      'there is no address',
      { standing: { has_email: false } },
      `06-15T16:00 webhook #1, 06-15T16:00 email #2 !no_email, 06-15T16:00 sms #3 !token_filter, 06-15T16:00 dial #4, ${last}`,
    ],
    [
      'there is no number to call from',
      { standing: { has_number: false } },
      `06-15T16:00 webhook #1, 06-15T16:00 email #2, 06-15T16:00 sms #3 !token_filter, 06-15T16:00 dial #4 !no_number, ${last}`,
    ],
    [
      'the number opted out: a contact stops all that is behind it',
      { standing: { opt_out: true } },
      `06-15T16:00 webhook #1, ${stopped('opt_out')}`,
    ],
    [
      'the number is on the blacklist',
      { standing: { blocked: true } },
      `06-15T16:00 webhook #1, ${stopped('blacklist')}`,
    ],
    [
      'the lead has been stopped already',
      { standing: { opt_out: true }, parked: 'opt_out' },
      `never webhook #1 !opt_out, ${stopped('opt_out')}`,
    ],
    [
      'the schedule is paused, whatever else',
      { standing: { paused: true, opt_out: true }, parked: 'opt_out' },
      `never webhook #1 !paused, ${stopped('paused')}`,
    ],
  ])('%s', (_name, view, trace) => expect(words(plan, view)).toBe(trace));

  test.each<[string, Plan, View, string]>([
    [
      'a schedule that opts its lead out stops at the next contact',
      planOf(row('opt_out', 'webhook', 'sms')),
      {},
      '06-15T16:00 opt_out #1, 06-15T16:00 webhook #2, never sms #3 !opt_out, never leave_schedule completed !opt_out, never end completed !opt_out',
    ],
    [
      'or behind the next wait',
      planOf([act('block', 1), pause(2, HOUR), act('webhook', 3)]),
      {},
      '06-15T16:00 block #1, 06-15T16:00 wait #2, never webhook #3 !blacklist, never leave_schedule completed !blacklist, never end completed !blacklist',
    ],
    [
      'no hour ever allows it',
      planOf(row('sms'), { hours: NEVER }),
      { zones: COASTS },
      'never sms #1 !no_open_hours',
    ],
    [
      'no hour ever allows it, until the time of the lead is up',
      planOf(row('sms'), { hours: NEVER, hours_to_expire: 3, end: row('webhook', 'dial') }),
      { zones: COASTS },
      'never sms #1 !no_open_hours, 06-15T19:00 leave_schedule expired, 06-15T19:00 webhook #1, never dial #2 !no_open_hours',
    ],
    [
      'a lead that has opted out is not kept by hours',
      planOf(row('sms'), { hours: NEVER }),
      { zones: COASTS, standing: { opt_out: true } },
      'never sms #1 !opt_out',
    ],
    [
      'what is passed over is no attempt',
      planOf(row('sms', 'email'), { max_contact_attempts: 1 }),
      { standing: { has_number: false } },
      '06-15T16:00 sms #1 !no_number, 06-15T16:00 email #2, 06-15T16:00 leave_schedule completed, 06-15T16:00 end completed',
    ],
    [
      'a callback that may not be made',
      planOf(row('sms'), { max_contact_attempts: 1 }),
      { standing: { suppressed_by: 4 }, progress: { callback_at: new Date(NOON) } },
      '06-15T16:00 callback !suppressed, 06-15T16:00 sms #1 !suppressed, 06-15T16:00 leave_schedule completed, 06-15T16:00 end completed',
    ],
  ])('%s', (_name, of, view, trace) => expect(words(of, view)).toBe(trace));
});

describe('what ends a schedule', () => {
  const day = [pause(1, DAY), act('sms', 2)];
  test.each<[string, Plan, string]>([
    [
      'hours_to_expire',
      planOf(day, { hours_to_expire: 2, end: row('webhook') }),
      '06-15T16:00 wait #1, 06-15T18:00 leave_schedule expired, 06-15T18:00 webhook #1, 06-15T18:00 end expired',
    ],
    [
      'expires_in, in minutes',
      planOf(day, { hours_to_expire: 2, expires_in: 5 }),
      '06-15T16:00 wait #1, 06-15T16:05 leave_schedule expired, 06-15T16:05 end expired',
    ],
    [
      'max_contact_attempts',
      planOf(row('sms', 'dial', 'sms'), { max_contact_attempts: 2 }),
      '06-15T16:00 sms #1, 06-15T16:00 dial #2, 06-15T16:00 leave_schedule exceeded_max_calls, 06-15T16:00 end exceeded_max_calls',
    ],
    [
      'a restart that comes when attempts are used up goes no further round',
      planOf(row('sms'), { max_contact_attempts: 1, end: row('webhook', 'restart', 'email') }),
      '06-15T16:00 sms #1, 06-15T16:00 leave_schedule exceeded_max_calls, 06-15T16:00 webhook #1, 06-15T16:00 leave_schedule #2 exceeded_max_calls, 06-15T16:00 email #3, 06-15T16:00 end exceeded_max_calls',
    ],
    [
      'a restart goes round until the time is up',
      planOf(row('webhook', 'restart'), { expires_in: 2 }),
      '06-15T16:00 webhook #1, 06-15T16:00 restart #2, 06-15T16:01 webhook #1, 06-15T16:01 restart #2, 06-15T16:02 leave_schedule expired, 06-15T16:02 end expired',
    ],
  ])('%s', (_name, plan, trace) => expect(words(plan)).toBe(trace));

  test.each([
    ['a restart without end', row('sms', 'restart')],
    ['a restart of nothing', row('restart')],
    [
      'more actions than that, done or passed over',
      Array.from({ length: 300 }, (_, n) => act('sms', n, { applies: n % 3 === 0 })),
    ],
    [
      'three hundred that are all passed over',
      Array.from({ length: 300 }, (_, n) => act('sms', n, { applies: false })),
    ],
  ])('200 steps, for %s', (_name, actions) => expect(foresee(planOf(actions))).toHaveLength(200));
});

describe('the lead of an offer', () => {
  const at_offer = (expires_in: number | null) => planOf([], { expires_in });
  const called = (callback_at: string): View => ({
    in_schedule: false,
    progress: { callback_at: new Date(callback_at) },
  });
  const end = '06-15T17:00 end expired';
  test.each<[string, Plan, View, string]>([
    ['waits for ever', at_offer(null), {}, ''],
    ['ends when it expires', at_offer(60), {}, end],
    [
      'ends now when it has expired',
      at_offer(60),
      { progress: { entered_at: new Date(0) } },
      '06-15T16:00 end expired',
    ],
    [
      'is called back before',
      at_offer(60),
      called('2026-06-15T16:30Z'),
      `06-15T16:30 callback, ${end}`,
    ],
    ['is not called back after', at_offer(60), called('2026-06-15T17:00Z'), end],
    [
      'is called back by daylight',
      at_offer(null),
      { ...called(NIGHT), from: NIGHT },
      '06-15T12:00 callback (daylight_hours)',
    ],
    [
      'is not called back when it expires at night',
      at_offer(60),
      { ...called(NIGHT), from: NIGHT },
      '06-15T07:00 end expired',
    ],
    [
      'that is paused does neither',
      at_offer(60),
      { ...called(NOON), standing: { paused: true } },
      'never callback !paused, never end expired !paused',
    ],
    [
      'that opted out is not called back',
      at_offer(60),
      { ...called(NOON), standing: { opt_out: true }, parked: 'opt_out' },
      'never callback !opt_out, never end expired !opt_out',
    ],
    [
      'that is suppressed is not called back',
      at_offer(60),
      { ...called(NOON), standing: { suppressed_by: 4 } },
      `06-15T16:00 callback !suppressed, ${end}`,
    ],
  ])('%s', (_name, plan, view, trace) =>
    expect(words(plan, { in_schedule: false, ...view })).toBe(trace),
  );
});

interface Story {
  plan: Plan;
  zones: readonly string[];
  begin: number;
  progress: Progress;
  standing: Standing;
  in_schedule: boolean;
}

/** What the engine does, turn by nextStep, when each is taken at the time that the one before has said. */
function performed({
  plan,
  zones,
  begin,
  progress: start,
  standing: stands,
  in_schedule,
}: Story): string[] {
  const [trace, standing] = [[] as string[], { ...stands }];
  let [now, progress, changed] = [new Date(begin), start, false];
  while (trace.length < 220) {
    const before = progress;
    const one: Omit<NextStep, 'verdict'> & { verdict: OfferVerdict } = (in_schedule ? nextStep : nextOfferStep)(
      progress,
      plan,
      { now, zones, standing },
    );
    const { verdict, events } = one;
    ({ progress } = one);
    const tell = (kind: string, action?: Action, why?: string) =>
      trace.push(told({ at: now, kind: kind as 'end', action, message: why }));
    const called = verdict.kind === 'contact' && !verdict.action;
    const offer_over = !in_schedule && verdict.kind === 'end';
    if (before.callback_at && !progress.callback_at && !called && !offer_over)
      tell(`callback`, undefined, 'passed over');
    for (const event of events) {
      if (event.event === 'skipped') tell(event.action.type, event.action, 'passed over');
      else if (event.event === 'restarted') tell('restart', event.action);
      else if (event.action?.type === 'exit') tell('exit', event.action);
      else if (in_schedule) tell('leave_schedule', event.action, event.reason);
    }
    if (verdict.kind === 'park') return trace;
    if (verdict.kind === 'end')
      return [...trace, told({ at: now, kind: 'end', message: verdict.reason })];
    if (verdict.kind === 'queue' || verdict.kind === 'later') {
      if (verdict.kind === 'later' && verdict.action?.type === 'wait') tell('wait', verdict.action);
      const stuck_for_ever =
        verdict.kind === 'later' &&
        verdict.reason === 'no_open_hours' &&
        !expiryBefore(plan, progress, in_schedule);
      if (changed || verdict.at === undefined || stuck_for_ever) return trace;
      now = verdict.at;
      continue;
    }
    tell(
      verdict.kind === 'contact'
        ? (verdict.action?.type ?? 'callback')
        : (verdict.action.type as string),
      verdict.action,
    );
    if (verdict.kind === 'move') return trace;
    if (verdict.kind === 'contact' && !verdict.action)
      progress = {
        ...progress,
        callback_at: null,
        contact_attempts: progress.contact_attempts + 1,
      };
    else if (verdict.kind === 'contact') progress = done(progress, verdict.action!);
    standing.opt_out ||= verdict.kind === 'opt_out';
    standing.blocked ||= verdict.kind === 'block';
    // The number's leads are stopped with it, this one among them.
    changed ||= verdict.kind === 'opt_out' || verdict.kind === 'block';
  }
  return trace;
}

/** Whether the time of a lead that may never be contacted is up some day. */
const expiryBefore = (plan: Plan, progress: Progress, in_schedule: boolean) =>
  expiryOf(plan, progress) !== undefined &&
  (!in_schedule || (progress.phase === 'actions' && !progress.callback_at));

describe('whatever the schedule, the lead and the hour', () => {
  const ZONES = [EASTERN, PACIFIC, LONDON, 'Asia/Kathmandu', 'Asia/Tokyo'];
  const wait = fc.oneof(
    fc.constantFrom(0, 1, 30_000, HOUR, 3 * DAY).map((ms) => ({ ms })),
    fc.integer({ min: 0, max: 1439 }).map((until) => ({ until })),
  );
  const actions = (offset: number) => {
    const common: ActionType[] = ['dial', 'sms', 'email', 'dial', 'sms', 'wait', 'wait', 'webhook'];
    const type = fc.constantFrom<ActionType>(
      ...common,
      'restart',
      'exit',
      'opt_out',
      'block',
      'move_to_schedule',
    );
    const one = fc.record({ type, wait, applies: fc.constantFrom(true, true, true, false) });
    return fc
      .array(one, { maxLength: 6 })
      .map((list) =>
        list.map((action, n) => ({ ...action, id: offset + n, position: n * 1.5 - 4 })),
      );
  };
  const night = fc.constantFrom(
    '2026-03-08T07:00Z',
    '2026-11-01T06:00Z',
    '2026-03-29T01:00Z',
    '2026-10-25T01:00Z',
    NOON,
  );
  const often = fc.constantFrom(true, true, true, false);
  const atMost = (max: number) => fc.option(fc.integer({ min: 1, max }));
  const hours = fc.constantFrom(DAYLIGHT, DAYLIGHT, {
    ...DAYLIGHT,
    business_open: [1440 + 540, 1440 + 1020, 4 * 1440, 5 * 1440],
  });
  const story = fc.record({
    limits: fc.record({
      hours_to_expire: atMost(100),
      expires_in: atMost(30),
      max_contact_attempts: atMost(4),
    }),
    lists: fc.record({ actions: actions(0), end: actions(100), hours }),
    zones: fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1, maxLength: 3 }),
    from: fc.tuple(night, fc.integer({ min: -2 * DAY, max: DAY })),
    callback: fc.option(fc.integer({ min: -HOUR, max: 3 * DAY })),
    standing: fc.record({
      has_email: often,
      has_number: often,
      suppressed_by: fc.constantFrom(null, null, null, 4),
      opt_out: often.map((it) => !it),
    }),
    in_schedule: often,
  });

  test('what is foreseen with a time is what the engine does then, in that order', () => {
    const holds = fc.property(
      story,
      ({ limits, lists, zones, from: [near, shift], callback, standing, in_schedule }) => {
        const begin = Date.parse(near) + shift;
        const plan = in_schedule
          ? { ...lists, ...limits }
          : planOf([], { expires_in: limits.expires_in });
        const progress = {
          ...initialProgress(new Date(begin)),
          callback_at: callback === null ? null : new Date(begin + callback),
        };
        const stands = { ...READY, ...standing };
        const foreseen = forecast(progress, plan, {
          now: new Date(begin),
          zones,
          standing: stands,
          in_schedule,
        });
        expect(foreseen.length).toBeLessThanOrEqual(200);
        const timed = foreseen.filter(({ at }) => at !== null);
        const expected = performed({
          plan,
          zones,
          begin,
          progress,
          standing: stands,
          in_schedule,
        }).slice(0, foreseen.length === 200 ? timed.length : undefined);
        expect(
          timed.map(({ blocked_by, delayed_by: _, ...step }) =>
            told(blocked_by ? { ...step, message: 'passed over' } : step),
          ),
        ).toEqual(expected);
        // What comes later is never foreseen earlier, and nothing has a time behind what stops the lead for good.
        expect(timed.map(({ at }) => at!.getTime())).toEqual(
          timed.map(({ at }) => at!.getTime()).toSorted((a, b) => a - b),
        );
      },
    );
    fc.assert(holds, { numRuns: 1_000 });
  });
});
