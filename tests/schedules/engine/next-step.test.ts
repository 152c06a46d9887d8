import fc from 'fast-check';
import {
  done,
  initialProgress,
  isAttempt,
  nextDue,
  type Action,
  type ActionType,
  type Plan,
  type Progress,
} from '../../../src/schedules/engine/cadence';
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
const pause = (position: number, wait: Action['wait']) => act('wait', position, { wait });
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
const facts = { now: new Date(NOON), zones: [EASTERN], standing: READY };

interface Walk {
  from?: string;
  zones?: readonly string[];
  standing?: Partial<Standing>;
  progress?: Partial<Progress>;
  steps?: number;
}
/** What a verdict makes of a lead when everything it says is done. */
function performed({ progress, verdict }: NextStep): Progress {
  if (verdict.kind !== 'contact') return progress;
  return verdict.action
    ? done(progress, verdict.action)
    : { ...progress, callback_at: null, contact_attempts: progress.contact_attempts + 1 };
}
/** Does what each turn says, at the time it says, until the lead ends, is parked or moves. */
function* turns(
  plan: Plan,
  { from = NOON, zones = [EASTERN], standing = {}, progress: start = {}, steps = 20 }: Walk = {},
) {
  let [now, progress, stands] = [
    new Date(from),
    { ...initialProgress(new Date(from)), ...start },
    { ...READY, ...standing },
  ];
  for (let n = 0; n < steps; n++) {
    const one = nextStep(progress, plan, { now, zones, standing: stands });
    yield { ...one, now, standing: stands };
    const { verdict } = one;
    if (verdict.kind === 'end' || verdict.kind === 'park' || verdict.kind === 'move') return;
    progress = performed(one);
    if (verdict.kind === 'later') now = verdict.at;
    stands = {
      ...stands,
      opt_out: stands.opt_out || verdict.kind === 'opt_out',
      blocked: stands.blocked || verdict.kind === 'block',
    };
  }
}
const shown = (at: Date) => at.toISOString().replace(':00.000Z', 'Z');
function told({ verdict, events }: NextStep): string[] {
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
/** All that happens on the way, in words. */
const walk = (plan: Plan, options?: Walk) => [...turns(plan, options)].flatMap(told).join(', ');

describe('the actions of a schedule', () => {
  const no = { applies: false };
  test.each<[string, Plan, Walk, string]>([
    [
      'in the order of their positions, each once, then the lead ends',
      planOf([act('sms', -5), act('email', 0), act('dial', 0.5), act('webhook', 3)]),
      {},
      'sms#-5, email#0, dial#0.5, webhook#3, left_schedule completed, end completed',
    ],
    [
      'behind where the lead stands, even if that action is gone',
      planOf([act('sms', 1), act('sms', 1.5), act('email', 2.5)]),
      { progress: { position: 2 }, steps: 1 },
      'email#2.5',
    ],
    [
      'but for those whose filter the tokens do not meet',
      planOf([act('sms', 1, no), act('email', 2)]),
      { steps: 1 },
      'skipped token_filter #1, email#2',
    ],
    [
      'waits too',
      planOf([act('wait', 1, { ...no, wait: { ms: DAY } }), act('email', 2)]),
      { steps: 1 },
      'skipped token_filter #1, email#2',
    ],
    [
      'and those of the end',
      planOf([], { end: [act('exit', 1, no), act('webhook', 2)] }),
      { steps: 1 },
      'left_schedule completed, skipped token_filter #1, webhook#2',
    ],
  ])('are performed %s', (_name, plan, options, trace) => expect(walk(plan, options)).toBe(trace));
  test('are told again until they have been done', () => {
    const plan = planOf(row('sms', 'email'));
    const first = nextStep(initialProgress(facts.now), plan, facts);
    expect(nextStep(first.progress, plan, facts)).toEqual(first);
    expect(nextStep(performed(first), plan, facts).verdict).toMatchObject({ action: { id: 2 } });
  });
  test.each(['webhook', 'opt_out', 'block'] as const)(
    '%s is an instruction of its own, done at night too, with the progress behind it',
    (type) => {
      const { progress, verdict } = nextStep(initialProgress(facts.now), planOf([act(type, 7)]), {
        ...facts,
        now: new Date(NIGHT),
      });
      expect(verdict).toEqual({ kind: type, action: act(type, 7) });
      expect(progress).toMatchObject({ position: 7, contact_attempts: 0 });
    },
  );
  test('what is given is left as it is', () => {
    const [plan, from] = [
      planOf([act('sms', 1, no), pause(2, { ms: 5 }), act('restart', 3)]),
      initialProgress(facts.now),
    ];
    const before = structuredClone([plan, from]);
    nextStep(nextStep(from, plan, facts).progress, plan, { ...facts, now: new Date(Date.parse(NOON) + 5) });
    expect([plan, from]).toEqual(before);
  });
});

describe('a wait', () => {
  test('is of its amount, from the moment the lead comes to it; none for nothing', () => {
    const plan = planOf([
      pause(1, { ms: 0 }),
      pause(2, undefined),
      act('sms', 3),
      pause(4, { ms: 90 * MINUTE }),
      act('email', 5),
    ]);
    expect(walk(plan, { steps: 3 })).toBe('sms#3, until 2026-06-15T17:30Z, email#5');
  });
  test('that is looked at too early goes on to the same moment, and is over at that moment', () => {
    const plan = planOf([pause(1, { ms: HOUR }), act('sms', 2)]);
    const { progress } = nextDue(initialProgress(facts.now), plan, facts);
    const early = nextDue(progress, plan, { ...facts, now: new Date('2026-06-15T16:59:59.999Z') });
    expect(early).toMatchObject({
      progress,
      next: { kind: 'wait', at: new Date('2026-06-15T17:00Z'), why: 'wait' },
    });
    expect(
      nextDue(progress, plan, { ...facts, now: new Date('2026-06-15T17:00Z') }).next,
    ).toMatchObject({ kind: 'perform', action: { id: 2 } });
  });
  test('nothing is done before a time that was asked for', () => {
    const progress = { not_before: new Date('2026-06-17T06:00Z') };
    expect(walk(planOf(row('webhook')), { progress, steps: 2 })).toBe(
      'until 2026-06-17T06:00Z, webhook#1',
    );
  });
  test.each([
    ['later today', EASTERN, '14:30', NOON, '2026-06-15T18:30Z'],
    ['tomorrow, when it is that time now', EASTERN, '12:00', NOON, '2026-06-16T16:00Z'],
    ['in the zone of the schedule', PACIFIC, '12:00', NOON, '2026-06-15T19:00Z'],
    ['in a zone where tomorrow has begun', 'Asia/Tokyo', '00:30', NOON, '2026-06-16T15:30Z'],
    [
      'New York, over the night of spring',
      EASTERN,
      '09:00',
      '2026-03-08T04:00Z',
      '2026-03-08T13:00Z',
    ],
    [
      'New York, at 02:30, which is missing: as if the clock had not changed',
      EASTERN,
      '02:30',
      '2026-03-08T06:00Z',
      '2026-03-08T07:30Z',
    ],
    [
      'New York, at 02:30 of the day after',
      EASTERN,
      '02:30',
      '2026-03-08T07:30Z',
      '2026-03-09T06:30Z',
    ],
    [
      'New York, over the night of autumn',
      EASTERN,
      '09:00',
      '2026-11-01T03:00Z',
      '2026-11-01T14:00Z',
    ],
    [
      'New York, at 01:30, which comes twice: the second',
      EASTERN,
      '01:30',
      '2026-11-01T05:00Z',
      '2026-11-01T06:30Z',
    ],
    [
      'New York, at 01:30 of the day after the second',
      EASTERN,
      '01:30',
      '2026-11-01T06:30Z',
      '2026-11-02T06:30Z',
    ],
    ['London, over the night of spring', LONDON, '08:00', '2026-03-28T23:00Z', '2026-03-29T07:00Z'],
    [
      'London, at 01:30, which is missing',
      LONDON,
      '01:30',
      '2026-03-29T00:00Z',
      '2026-03-29T01:30Z',
    ],
    ['London, over the night of autumn', LONDON, '08:00', '2026-10-24T22:00Z', '2026-10-25T08:00Z'],
  ])('until a time of day: %s', (_name, business_zone, time, from, until) => {
    const [hour, minute] = time.split(':').map(Number) as [number, number];
    const plan = planOf([pause(1, { until: hour * 60 + minute })], {
      hours: { ...DAYLIGHT, business_zone },
    });
    expect(walk(plan, { from, steps: 1 })).toBe(`until ${until}`);
  });
});

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
      'sms#1, left_schedule exceeded_max_calls, sms#0, until 2026-06-16T16:00Z, dial#3, end exceeded_max_calls',
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

describe('restart', () => {
  test('begins anew a minute later at the earliest, with the attempts and the time of before', () => {
    const [entered_at, later] = [new Date('2026-06-14T16:00Z'), new Date('2026-06-15T16:01Z')];
    const { progress, events, verdict } = nextStep(
      { ...initialProgress(entered_at, 3), position: 1 },
      planOf(row('sms', 'restart'), { max_contact_attempts: 5 }),
      facts,
    );
    expect(progress).toEqual({ ...initialProgress(entered_at, 3), not_before: later });
    expect([events, verdict]).toEqual([
      [{ event: 'restarted', action: act('restart', 2) }],
      { kind: 'later', at: later },
    ]);
  });
  const [round, day] = ['sms#1, restarted #2, until 2026-06-15T16:01Z', [pause(1, { ms: DAY })]];
  const end = row('sms', 'restart', 'webhook');
  test.each<[string, Plan, string]>([
    [
      'ends by its attempts',
      planOf(row('sms', 'restart'), { max_contact_attempts: 2 }),
      `${round}, sms#1, left_schedule exceeded_max_calls, end exceeded_max_calls`,
    ],
    [
      'ends by its time',
      planOf(row('sms', 'restart'), { expires_in: 2 }),
      `${round}, sms#1, restarted #2, until 2026-06-15T16:02Z, left_schedule expired, end expired`,
    ],
    [
      'does not at its end once its time is up',
      planOf(day, { end, expires_in: 1 }),
      'until 2026-06-15T16:01Z, left_schedule expired, sms#1, left_schedule expired #2, webhook#3, end expired',
    ],
    [
      'does not at its end once its attempts are used up',
      planOf([], { end, max_contact_attempts: 1 }),
      'left_schedule completed, sms#1, left_schedule exceeded_max_calls #2, webhook#3, end exceeded_max_calls',
    ],
    [
      'does at its end while something is left',
      planOf([], { end, max_contact_attempts: 2 }),
      `left_schedule completed, ${round}, left_schedule completed, sms#1, left_schedule exceeded_max_calls #2, webhook#3, end exceeded_max_calls`,
    ],
  ])('a schedule that restarts itself %s', (_name, plan, trace) => expect(walk(plan)).toBe(trace));
});

describe('moving to another schedule', () => {
  test.each([
    [
      'waits until a minute after the lead entered this one',
      '2026-06-15T15:59:30Z',
      'until 2026-06-15T16:00:30.000Z, move_to_schedule#1',
    ],
    ['is at once after that', '2026-06-15T15:59:00Z', 'move_to_schedule#1'],
  ])('%s', (_name, entered_at, trace) =>
    expect(
      walk(planOf(row('move_to_schedule')), { progress: { entered_at: new Date(entered_at) } }),
    ).toBe(trace),
  );
  test('does not put the lead behind the action: that is for who moves it', () => {
    const { progress, verdict } = nextStep(initialProgress(new Date(0)), planOf(row('move_to_schedule')), facts);
    expect([progress.position, verdict]).toEqual([
      null,
      { kind: 'move', action: act('move_to_schedule', 1) },
    ]);
  });
});

describe('whether a lead may be contacted is looked at when it would be', () => {
  const plan = planOf([
    act('webhook', 1),
    pause(2, { ms: HOUR }),
    act('sms', 3),
    act('email', 4),
    act('dial', 5),
    act('webhook', 6),
  ]);
  const last = 'webhook#6, left_schedule completed, end completed';
  test.each<[string, Partial<Standing>, string]>([
    ['an opted-out lead stops at its first contact', { opt_out: true }, 'park opt_out'],
    ['so does a blocked one', { blocked: true }, 'park blocked'],
    [
      'opting out is what is named of both, and goes before suppression',
      { blocked: true, opt_out: true, suppressed_by: 4 },
      'park opt_out',
    ],
    [
      'a suppressed one goes on without contacts',
      { suppressed_by: 4 },
      `skipped suppressed #3, skipped suppressed #4, skipped suppressed #5, ${last}`,
    ],
    [
      'one without address goes on without e-mails',
      { has_email: false },
      `sms#3, skipped no_email #4, dial#5, ${last}`,
    ],
    [
      'one without a number to use goes on with e-mails',
      { has_number: false },
      `skipped no_number #3, email#4, skipped no_number #5, ${last}`,
    ],
  ])('%s', (_name, standing, trace) =>
    expect(walk(plan, { standing })).toBe(`webhook#1, until 2026-06-15T17:00Z, ${trace}`),
  );

  test('opt_out and block end all contact that comes after them, and nothing else', () => {
    expect(walk(planOf(row('opt_out', 'webhook', 'sms')))).toBe(
      'opt_out#1, webhook#2, park opt_out',
    );
    expect(walk(planOf(row('block', 'webhook', 'email')))).toBe('block#1, webhook#2, park blocked');
  });
  test('a lead that stops keeps its place, and goes on from there', () => {
    const { progress } = nextStep({ ...initialProgress(facts.now), position: 2 }, plan, {
      ...facts,
      standing: { ...READY, opt_out: true },
    });
    expect(nextStep(progress, plan, facts).verdict).toMatchObject({
      kind: 'contact',
      action: { id: 3 },
    });
  });
  test('a contact that is due stops the lead, whether or not the hour allows it', () => {
    expect(walk(planOf(row('sms')), { from: NIGHT, standing: { blocked: true } })).toBe(
      'park blocked',
    );
    expect(
      walk(planOf(row('sms'), { hours: NEVER }), { zones: COASTS, standing: { opt_out: true } }),
    ).toBe('park opt_out');
  });
  test('a paused owner stops everything: webhooks, waits, callbacks, the expiry and the end', () => {
    const progress = { callback_at: new Date(NOON), entered_at: new Date(0) };
    expect(
      walk(planOf(row('webhook'), { expires_in: 1 }), {
        standing: { paused: true, opt_out: true },
        progress,
      }),
    ).toBe('park disabled');
    expect(walk(planOf([]), { standing: { paused: true } })).toBe('park disabled');
  });
});

describe('a contact due at night is put to the morning', () => {
  test.each([
    ['New York, spring', EASTERN, '2026-03-08T06:30Z', '2026-03-08T12:00Z'],
    ['New York, autumn', EASTERN, '2026-11-01T05:30Z', '2026-11-01T13:00Z'],
    [
      'New York, autumn, the hour that comes again',
      EASTERN,
      '2026-11-01T06:30Z',
      '2026-11-01T13:00Z',
    ],
    ['London, spring', LONDON, '2026-03-29T00:30Z', '2026-03-29T07:00Z'],
    ['London, autumn', LONDON, '2026-10-25T01:30Z', '2026-10-25T08:00Z'],
  ])('08:00 on the clock of %s, also at the end of a wait', (_name, zone, from, morning) => {
    const [zones, due] = [[zone], new Date(Date.parse(from) - HOUR).toISOString()];
    expect(walk(planOf(row('dial')), { from, zones, steps: 2 })).toBe(
      `until ${morning} daylight_hours, dial#1`,
    );
    const trace = `until ${from}, until ${morning} daylight_hours, sms#2`;
    expect(
      walk(planOf([pause(1, { ms: HOUR }), act('sms', 2)]), { from: due, zones, steps: 3 }),
    ).toBe(trace);
  });
  test('of the last of its zones, and not after the first of them is dark', () => {
    const zones = [EASTERN, 'America/Chicago', PACIFIC];
    expect(walk(planOf(row('email')), { from: '2026-06-15T12:00Z', zones, steps: 2 })).toBe(
      'until 2026-06-15T15:00Z daylight_hours, email#1',
    );
    expect(walk(planOf(row('sms')), { from: '2026-06-16T01:00Z', zones, steps: 1 })).toBe(
      'until 2026-06-16T15:00Z daylight_hours',
    );
  });
  test('or to when the business opens', () => {
    const hours = { ...DAYLIGHT, business_open: [1440 + 600, 1440 + 720] };
    expect(walk(planOf(row('sms'), { hours }), { steps: 2 })).toBe(
      'until 2026-06-22T14:00Z business_hours, sms#1',
    );
  });
});

describe('whatever the schedule, the lead and the night', () => {
  const ZONES = [EASTERN, PACIFIC, LONDON, 'Asia/Kathmandu', 'Asia/Tokyo'];
  const wait = fc.oneof(
    fc.constantFrom(0, 1, 30_000, HOUR, 3 * DAY).map((ms) => ({ ms })),
    fc.integer({ min: 0, max: 1439 }).map((until) => ({ until })),
  );
  const actions = (offset: number) => {
    const contacts: ActionType[] = [
      'dial',
      'sms',
      'email',
      'dial',
      'sms',
      'wait',
      'wait',
      'webhook',
    ];
    const type = fc.constantFrom<ActionType>(
      ...contacts,
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
  );
  const often = fc.constantFrom(true, true, true, false);
  const atMost = (max: number) => fc.option(fc.integer({ min: 1, max }));
  const story = fc.record({
    plan: fc.record({
      actions: actions(0),
      end: actions(100),
      hours_to_expire: atMost(100),
      expires_in: atMost(30),
      max_contact_attempts: atMost(4),
    }),
    zones: fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1, maxLength: 3 }),
    from: fc.tuple(night, fc.integer({ min: -2 * DAY, max: DAY })),
    callback: fc.option(fc.integer({ min: 0, max: 3 * DAY })),
    standing: fc.record({
      has_email: often,
      has_number: often,
      suppressed_by: fc.constantFrom(null, null, null, 4),
      opt_out: often.map((it) => !it),
    }),
  });
  const clocks = new Map(
    ZONES.map((timeZone) => [
      timeZone,
      new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }),
    ]),
  );
  const STEPS = 800;

  test('it ends or waits, is contacted by day only, within its attempts, and no action is repeated but by a restart', () => {
    const holds = fc.property(
      story,
      ({ plan: some, zones, from: [night_of, shift], callback, standing: some_standing }) => {
        const [begin, plan] = [Date.parse(night_of) + shift, planOf(some.actions, some)];
        const most = plan.max_contact_attempts ?? Infinity;
        const expiry =
          begin + (plan.expires_in ?? (plan.hours_to_expire ?? Infinity) * 60) * MINUTE;
        const progress = { callback_at: callback === null ? null : new Date(begin + callback) };
        let [steps, restarts, attempts, last, seen] = [0, 0, 0, begin, new Set<number>()];
        const options = {
          from: new Date(begin).toISOString(),
          zones,
          standing: some_standing,
          progress,
          steps: STEPS,
        };
        for (const one of turns(plan, options)) {
          const { verdict, events, now, standing } = one;
          [steps, last, attempts] = [steps + 1, now.getTime(), performed(one).contact_attempts];
          if (events.some(({ event }) => event === 'restarted'))
            [restarts, seen] = [restarts + 1, new Set()];
          if (verdict.kind === 'later') {
            expect(verdict.at.getTime()).toBeGreaterThan(last);
            if (one.progress.phase === 'actions' && !one.progress.callback_at)
              expect(verdict.at.getTime()).toBeLessThanOrEqual(expiry);
            if (verdict.reason === 'no_open_hours') return;
          } else if ('action' in verdict && verdict.action) {
            expect(seen).not.toContain(verdict.action.id);
            seen.add(verdict.action.id);
          }
          if (verdict.kind === 'contact') {
            const times = zones.map((zone) => clocks.get(zone)!.format(now));
            expect(times.filter((time) => time < '08:00' || time > '20:59')).toEqual([]);
            expect(standing).toMatchObject({ opt_out: false, blocked: false, suppressed_by: null });
            if (verdict.action && one.progress.phase === 'actions')
              expect(one.progress.contact_attempts).toBeLessThan(most);
          }
        }
        expect(attempts).toBeLessThanOrEqual(
          most + plan.end.filter(({ type }) => isAttempt(type)).length + Number(callback !== null),
        );
        // Only what restarts itself without end is still under way, a minute later each time.
        if (steps === STEPS)
          expect([restarts > 0, plan.expires_in, last - begin >= (restarts - 1) * MINUTE]).toEqual([
            true,
            null,
            true,
          ]);
      },
    );
    fc.assert(holds, { numRuns: 1_000 });
  });
});
