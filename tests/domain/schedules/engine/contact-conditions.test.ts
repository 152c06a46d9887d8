import fc from 'fast-check';
import {
  buildInitialProgress,
  isAttempt,
  type ActionType,
} from '../../../../src/domain/schedules/engine/cadence';
import {
  decideNextStep,
  type ContactConditions,
} from '../../../../src/domain/schedules/engine/next-step';
import {
  act,
  COASTS,
  DAY,
  DAYLIGHT,
  EASTERN,
  facts,
  HOUR,
  LONDON,
  MINUTE,
  NEVER,
  NIGHT,
  NOON,
  PACIFIC,
  pause,
  performStep,
  buildPlan,
  READY,
  row,
  walkSteps,
  walk,
} from '../../../support/next-steps';
import { repetitions } from '../../../support/repetitions';

describe('whether a lead may be contacted is looked at when it would be', () => {
  const plan = buildPlan([
    act('webhook', 1),
    pause(2, { ms: HOUR }),
    act('sms', 3),
    act('email', 4),
    act('dial', 5),
    act('webhook', 6),
  ]);
  const last = 'webhook#6, left_schedule completed, end completed';
  test.each<[string, Partial<ContactConditions>, string]>([
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
  ])('%s', (_name, conditions, trace) =>
    expect(walk(plan, { conditions })).toBe(`webhook#1, until 2026-06-15T17:00Z, ${trace}`),
  );

  test('opt_out and block end all contact that comes after them, and nothing else', () => {
    expect(walk(buildPlan(row('opt_out', 'webhook', 'sms')))).toBe(
      'opt_out#1, webhook#2, park opt_out',
    );
    expect(walk(buildPlan(row('block', 'webhook', 'email')))).toBe(
      'block#1, webhook#2, park blocked',
    );
  });
  test('a lead that stops keeps its place, and goes on from there', () => {
    const { progress } = decideNextStep({ ...buildInitialProgress(facts.now), position: 2 }, plan, {
      ...facts,
      conditions: { ...READY, opt_out: true },
    });
    expect(decideNextStep(progress, plan, facts).verdict).toMatchObject({
      kind: 'contact',
      action: { id: 3 },
    });
  });
  test('a contact that is due stops the lead, whether or not the hour allows it', () => {
    expect(walk(buildPlan(row('sms')), { from: NIGHT, conditions: { blocked: true } })).toBe(
      'park blocked',
    );
    expect(
      walk(buildPlan(row('sms'), { hours: NEVER }), {
        zones: COASTS,
        conditions: { opt_out: true },
      }),
    ).toBe('park opt_out');
  });
  test(
    'a paused owner stops everything: webhooks, waits, callbacks, the expiry ' + 'and the end',
    () => {
      const progress = { callback_at: new Date(NOON), entered_at: new Date(0) };
      expect(
        walk(buildPlan(row('webhook'), { expires_in: 1 }), {
          conditions: { paused: true, opt_out: true },
          progress,
        }),
      ).toBe('park disabled');
      expect(walk(buildPlan([]), { conditions: { paused: true } })).toBe('park disabled');
    },
  );
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
    expect(walk(buildPlan(row('dial')), { from, zones, steps: 2 })).toBe(
      `until ${morning} daylight_hours, dial#1`,
    );
    const trace = `until ${from}, until ${morning} daylight_hours, sms#2`;
    expect(
      walk(buildPlan([pause(1, { ms: HOUR }), act('sms', 2)]), { from: due, zones, steps: 3 }),
    ).toBe(trace);
  });
  test('of the last of its zones, and not after the first of them is dark', () => {
    const zones = [EASTERN, 'America/Chicago', PACIFIC];
    expect(walk(buildPlan(row('email')), { from: '2026-06-15T12:00Z', zones, steps: 2 })).toBe(
      'until 2026-06-15T15:00Z daylight_hours, email#1',
    );
    expect(walk(buildPlan(row('sms')), { from: '2026-06-16T01:00Z', zones, steps: 1 })).toBe(
      'until 2026-06-16T15:00Z daylight_hours',
    );
  });
  test('or to when the business opens', () => {
    const hours = { ...DAYLIGHT, business_open: [1440 + 600, 1440 + 720] };
    expect(walk(buildPlan(row('sms'), { hours }), { steps: 2 })).toBe(
      'until 2026-06-22T14:00Z business_hours, sms#1',
    );
  });
});

describe('for any schedule, lead and night', () => {
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
    const anyAction = fc.record({ type, wait, applies: fc.constantFrom(true, true, true, false) });
    return fc
      .array(anyAction, { maxLength: 6 })
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
    conditions: fc.record({
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

  test(
    'it ends or waits, is contacted by day only, within its attempts, and no ' +
      'action is repeated but by a restart',
    () => {
      const holds = fc.property(
        story,
        ({ plan: some, zones, from: [night, shift], callback, conditions: someStanding }) => {
          const [begin, plan] = [Date.parse(night) + shift, buildPlan(some.actions, some)];
          const most = plan.max_contact_attempts ?? Infinity;
          const expiry =
            begin + (plan.expires_in ?? (plan.hours_to_expire ?? Infinity) * 60) * MINUTE;
          const progress = { callback_at: callback === null ? null : new Date(begin + callback) };
          let [steps, restarts, attempts, last, seenIds] = [0, 0, 0, begin, new Set<number>()];
          const options = {
            from: new Date(begin).toISOString(),
            zones,
            conditions: someStanding,
            progress,
            steps: STEPS,
          };
          for (const step of walkSteps(plan, options)) {
            const { verdict, events, now, conditions } = step;
            [steps, last, attempts] = [
              steps + 1,
              now.getTime(),
              performStep(step).contact_attempts,
            ];
            if (events.some(({ event }) => event === 'restarted'))
              [restarts, seenIds] = [restarts + 1, new Set()];
            if (verdict.kind === 'later') {
              expect(verdict.at.getTime()).toBeGreaterThan(last);
              if (step.progress.phase === 'actions' && !step.progress.callback_at)
                expect(verdict.at.getTime()).toBeLessThanOrEqual(expiry);
              if (verdict.reason === 'no_open_hours') return;
            } else if ('action' in verdict && verdict.action) {
              expect(seenIds).not.toContain(verdict.action.id);
              seenIds.add(verdict.action.id);
            }
            if (verdict.kind === 'contact') {
              const times = zones.map((zone) => clocks.get(zone)!.format(now));
              expect(times.filter((time) => time < '08:00' || time > '20:59')).toEqual([]);
              expect(conditions).toMatchObject({
                opt_out: false,
                blocked: false,
                suppressed_by: null,
              });
              if (verdict.action && step.progress.phase === 'actions')
                expect(step.progress.contact_attempts).toBeLessThan(most);
            }
          }
          expect(attempts).toBeLessThanOrEqual(
            most +
              plan.end.filter(({ type }) => isAttempt(type)).length +
              Number(callback !== null),
          );
          // Only what restarts itself without end is still under way, a minute later each time.
          if (steps === STEPS)
            expect([
              restarts > 0,
              plan.expires_in,
              last - begin >= (restarts - 1) * MINUTE,
            ]).toEqual([true, null, true]);
        },
      );
      fc.assert(holds, { numRuns: repetitions(200, 1_000) });
    },
  );
});
