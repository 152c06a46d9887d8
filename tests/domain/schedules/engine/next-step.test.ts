import {
  buildInitialProgress,
  findNextDue,
  type Plan,
} from '../../../../src/domain/schedules/engine/cadence';
import { decideNextStep } from '../../../../src/domain/schedules/engine/next-step';
import {
  act,
  DAY,
  DAYLIGHT,
  EASTERN,
  facts,
  HOUR,
  LONDON,
  MINUTE,
  NIGHT,
  NOON,
  PACIFIC,
  pause,
  performStep,
  buildPlan,
  row,
  type Walk,
  walk,
} from '../../../support/next-steps';

describe('the actions of a schedule', () => {
  const no = { applies: false };
  test.each<[string, Plan, Walk, string]>([
    [
      'in the order of their positions, each once, then the lead ends',
      buildPlan([act('sms', -5), act('email', 0), act('dial', 0.5), act('webhook', 3)]),
      {},
      'sms#-5, email#0, dial#0.5, webhook#3, left_schedule completed, end completed',
    ],
    [
      'behind where the lead stands, even if that action is gone',
      buildPlan([act('sms', 1), act('sms', 1.5), act('email', 2.5)]),
      { progress: { position: 2 }, steps: 1 },
      'email#2.5',
    ],
    [
      'but for those whose filter the tokens do not meet',
      buildPlan([act('sms', 1, no), act('email', 2)]),
      { steps: 1 },
      'skipped token_filter #1, email#2',
    ],
    [
      'waits too',
      buildPlan([act('wait', 1, { ...no, wait: { ms: DAY } }), act('email', 2)]),
      { steps: 1 },
      'skipped token_filter #1, email#2',
    ],
    [
      'and those of the end',
      buildPlan([], { end: [act('exit', 1, no), act('webhook', 2)] }),
      { steps: 1 },
      'left_schedule completed, skipped token_filter #1, webhook#2',
    ],
  ])('are performed %s', (_name, plan, options, trace) => expect(walk(plan, options)).toBe(trace));
  test('are returned again until they are done', () => {
    const plan = buildPlan(row('sms', 'email'));
    const first = decideNextStep(buildInitialProgress(facts.now), plan, facts);
    expect(decideNextStep(first.progress, plan, facts)).toEqual(first);
    expect(decideNextStep(performStep(first), plan, facts).verdict).toMatchObject({
      action: { id: 2 },
    });
  });
  test.each(['webhook', 'opt_out', 'block'] as const)(
    '%s is an instruction of its own, done at night too, with the progress behind it',
    (type) => {
      const { progress, verdict } = decideNextStep(
        buildInitialProgress(facts.now),
        buildPlan([act(type, 7)]),
        {
          ...facts,
          now: new Date(NIGHT),
        },
      );
      expect(verdict).toEqual({ kind: type, action: act(type, 7) });
      expect(progress).toMatchObject({ position: 7, contact_attempts: 0 });
    },
  );
  test('what is given is left as it is', () => {
    const [plan, from] = [
      buildPlan([act('sms', 1, no), pause(2, { ms: 5 }), act('restart', 3)]),
      buildInitialProgress(facts.now),
    ];
    const before = structuredClone([plan, from]);
    decideNextStep(decideNextStep(from, plan, facts).progress, plan, {
      ...facts,
      now: new Date(Date.parse(NOON) + 5),
    });
    expect([plan, from]).toEqual(before);
  });
});

describe('a wait', () => {
  test('is of its amount, from the moment the lead comes to it; none for nothing', () => {
    const plan = buildPlan([
      pause(1, { ms: 0 }),
      pause(2, undefined),
      act('sms', 3),
      pause(4, { ms: 90 * MINUTE }),
      act('email', 5),
    ]);
    expect(walk(plan, { steps: 3 })).toBe('sms#3, until 2026-06-15T17:30Z, email#5');
  });
  test('that is looked at too early goes on to the same moment, and is over at that moment', () => {
    const plan = buildPlan([pause(1, { ms: HOUR }), act('sms', 2)]);
    const { progress } = findNextDue(buildInitialProgress(facts.now), plan, facts);
    const early = findNextDue(progress, plan, {
      ...facts,
      now: new Date('2026-06-15T16:59:59.999Z'),
    });
    expect(early).toMatchObject({
      progress,
      next: { kind: 'wait', at: new Date('2026-06-15T17:00Z'), why: 'wait' },
    });
    expect(
      findNextDue(progress, plan, { ...facts, now: new Date('2026-06-15T17:00Z') }).next,
    ).toMatchObject({ kind: 'perform', action: { id: 2 } });
  });
  test('nothing is done before a time that was asked for', () => {
    const progress = { not_before: new Date('2026-06-17T06:00Z') };
    expect(walk(buildPlan(row('webhook')), { progress, steps: 2 })).toBe(
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
  ])('until a time of day: %s', (_name, businessZone, time, from, until) => {
    const [hour, minute] = time.split(':').map(Number) as [number, number];
    const plan = buildPlan([pause(1, { until: hour * 60 + minute })], {
      hours: { ...DAYLIGHT, business_zone: businessZone },
    });
    expect(walk(plan, { from, steps: 1 })).toBe(`until ${until}`);
  });
});

describe('restart', () => {
  test(
    'starts again after a minute at the earliest, with its attempts and its time ' + 'of entry',
    () => {
      const [enteredAt, later] = [new Date('2026-06-14T16:00Z'), new Date('2026-06-15T16:01Z')];
      const { progress, events, verdict } = decideNextStep(
        { ...buildInitialProgress(enteredAt, 3), position: 1 },
        buildPlan(row('sms', 'restart'), { max_contact_attempts: 5 }),
        facts,
      );
      expect(progress).toEqual({ ...buildInitialProgress(enteredAt, 3), not_before: later });
      expect([events, verdict]).toEqual([
        [{ event: 'restarted', action: act('restart', 2) }],
        { kind: 'later', at: later },
      ]);
    },
  );
  const [round, day] = ['sms#1, restarted #2, until 2026-06-15T16:01Z', [pause(1, { ms: DAY })]];
  const end = row('sms', 'restart', 'webhook');
  test.each<[string, Plan, string]>([
    [
      'ends by its attempts',
      buildPlan(row('sms', 'restart'), { max_contact_attempts: 2 }),
      `${round}, sms#1, left_schedule exceeded_max_calls, end exceeded_max_calls`,
    ],
    [
      'ends by its time',
      buildPlan(row('sms', 'restart'), { expires_in: 2 }),
      `${round}, sms#1, restarted #2, until 2026-06-15T16:02Z, left_schedule expired, end expired`,
    ],
    [
      'does not at its end once its time is up',
      buildPlan(day, { end, expires_in: 1 }),
      'until 2026-06-15T16:01Z, left_schedule expired, sms#1, left_schedule ' +
        'expired #2, webhook#3, end expired',
    ],
    [
      'does not at its end once its attempts are used up',
      buildPlan([], { end, max_contact_attempts: 1 }),
      'left_schedule completed, sms#1, left_schedule exceeded_max_calls #2, ' +
        'webhook#3, end exceeded_max_calls',
    ],
    [
      'does at its end while something is left',
      buildPlan([], { end, max_contact_attempts: 2 }),
      `left_schedule completed, ${round}, left_schedule completed, sms#1, ` +
        `left_schedule exceeded_max_calls #2, webhook#3, end exceeded_max_calls`,
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
  ])('%s', (_name, enteredAt, trace) =>
    expect(
      walk(buildPlan(row('move_to_schedule')), { progress: { entered_at: new Date(enteredAt) } }),
    ).toBe(trace),
  );
  test('does not put the lead behind the action: that is for who moves it', () => {
    const { progress, verdict } = decideNextStep(
      buildInitialProgress(new Date(0)),
      buildPlan(row('move_to_schedule')),
      facts,
    );
    expect([progress.position, verdict]).toEqual([
      null,
      { kind: 'move', action: act('move_to_schedule', 1) },
    ]);
  });
});
