import fc from 'fast-check';
import {
  applyAction,
  computeExpiry,
  buildInitialProgress,
  type Action,
  type ActionType,
  type Plan,
  type Progress,
} from '../../../../src/domain/schedules/engine/cadence';
import { forecast } from '../../../../src/domain/schedules/engine/forecast';
import {
  decideNextStep,
  type ContactConditions,
  type NextStep,
} from '../../../../src/domain/schedules/engine/next-step';
import {
  decideNextOfferStep,
  type OfferVerdict,
} from '../../../../src/domain/schedules/engine/offer-next-step';
import {
  DAY,
  DAYLIGHT,
  EASTERN,
  HOUR,
  LONDON,
  NIGHT,
  NOON,
  PACIFIC,
  buildPlan,
  READY,
  describeStep,
  type View,
  words,
} from '../../../support/forecasts';
import { repetitions } from '../../../support/repetitions';

describe('the lead of an offer', () => {
  const atOffer = (expiresIn: number | null) => buildPlan([], { expires_in: expiresIn });
  const called = (callbackAt: string): View => ({
    in_schedule: false,
    progress: { callback_at: new Date(callbackAt) },
  });
  const end = '06-15T17:00 end expired';
  test.each<[string, Plan, View, string]>([
    ['waits for ever', atOffer(null), {}, ''],
    ['ends when it expires', atOffer(60), {}, end],
    [
      'ends now when it has expired',
      atOffer(60),
      { progress: { entered_at: new Date(0) } },
      '06-15T16:00 end expired',
    ],
    [
      'is called back before',
      atOffer(60),
      called('2026-06-15T16:30Z'),
      `06-15T16:30 callback, ${end}`,
    ],
    ['is not called back after', atOffer(60), called('2026-06-15T17:00Z'), end],
    [
      'is called back by daylight',
      atOffer(null),
      { ...called(NIGHT), from: NIGHT },
      '06-15T12:00 callback (daylight_hours)',
    ],
    [
      'is not called back when it expires at night',
      atOffer(60),
      { ...called(NIGHT), from: NIGHT },
      '06-15T07:00 end expired',
    ],
    [
      'that is paused does neither',
      atOffer(60),
      { ...called(NOON), conditions: { paused: true } },
      'never callback !paused, never end expired !paused',
    ],
    [
      'that opted out is not called back',
      atOffer(60),
      { ...called(NOON), conditions: { opt_out: true }, parked: 'opt_out' },
      'never callback !opt_out, never end expired !opt_out',
    ],
    [
      'that is suppressed is not called back',
      atOffer(60),
      { ...called(NOON), conditions: { suppressed_by: 4 } },
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
  conditions: ContactConditions;
  in_schedule: boolean;
}

/** Steps of the engine, each at the time that the one before returned. */
function runEngineSteps({
  plan,
  zones,
  begin,
  progress: start,
  conditions: stands,
  in_schedule,
}: Story): string[] {
  const [trace, conditions] = [[] as string[], { ...stands }];
  let [now, progress, changed] = [new Date(begin), start, false];
  while (trace.length < 220) {
    const before = progress;
    const step: Omit<NextStep, 'verdict'> & { verdict: OfferVerdict } = (
      in_schedule ? decideNextStep : decideNextOfferStep
    )(progress, plan, { now, zones, conditions });
    const { verdict, events } = step;
    ({ progress } = step);
    const add = (kind: string, action?: Action, why?: string) =>
      trace.push(describeStep({ at: now, kind: kind as 'end', action, message: why }));
    const called = verdict.kind === 'contact' && !verdict.action;
    const offerOver = !in_schedule && verdict.kind === 'end';
    if (before.callback_at && !progress.callback_at && !called && !offerOver)
      add(`callback`, undefined, 'skipped');
    for (const event of events) {
      if (event.event === 'skipped') add(event.action.type, event.action, 'skipped');
      else if (event.event === 'restarted') add('restart', event.action);
      else if (event.action?.type === 'exit') add('exit', event.action);
      else if (in_schedule) add('leave_schedule', event.action, event.reason);
    }
    if (verdict.kind === 'park') return trace;
    if (verdict.kind === 'end')
      return [...trace, describeStep({ at: now, kind: 'end', message: verdict.reason })];
    if (verdict.kind === 'queue' || verdict.kind === 'later') {
      if (verdict.kind === 'later' && verdict.action?.type === 'wait') add('wait', verdict.action);
      const stuckForEver =
        verdict.kind === 'later' &&
        verdict.reason === 'no_open_hours' &&
        !hasExpiry(plan, progress, in_schedule);
      if (changed || verdict.at === undefined || stuckForEver) return trace;
      now = verdict.at;
      continue;
    }
    add(
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
    else if (verdict.kind === 'contact') progress = applyAction(progress, verdict.action!);
    conditions.opt_out ||= verdict.kind === 'opt_out';
    conditions.blocked ||= verdict.kind === 'block';
    // The number's leads are stopped with it, this one among them.
    changed ||= verdict.kind === 'opt_out' || verdict.kind === 'block';
  }
  return trace;
}

/** True if a lead that may never be contacted expires some day. */
const hasExpiry = (plan: Plan, progress: Progress, inSchedule: boolean) =>
  computeExpiry(plan, progress) !== undefined &&
  (!inSchedule || (progress.phase === 'actions' && !progress.callback_at));

describe('for any schedule, lead and time', () => {
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
    conditions: fc.record({
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
      ({ limits, lists, zones, from: [near, shift], callback, conditions, in_schedule }) => {
        const begin = Date.parse(near) + shift;
        const plan = in_schedule
          ? { ...lists, ...limits }
          : buildPlan([], { expires_in: limits.expires_in });
        const progress = {
          ...buildInitialProgress(new Date(begin)),
          callback_at: callback === null ? null : new Date(begin + callback),
        };
        const stands = { ...READY, ...conditions };
        const foreseen = forecast(progress, plan, {
          now: new Date(begin),
          zones,
          conditions: stands,
          in_schedule,
        });
        expect(foreseen.length).toBeLessThanOrEqual(200);
        const timed = foreseen.filter(({ at }) => at !== null);
        const expected = runEngineSteps({
          plan,
          zones,
          begin,
          progress,
          conditions: stands,
          in_schedule,
        }).slice(0, foreseen.length === 200 ? timed.length : undefined);
        expect(
          timed.map(({ blocked_by, delayed_by: _, ...step }) =>
            describeStep(blocked_by ? { ...step, message: 'skipped' } : step),
          ),
        ).toEqual(expected);
        // A later step is never forecast at an earlier time, and no step has a time after the one
        // that stops the lead for good.
        expect(timed.map(({ at }) => at!.getTime())).toEqual(
          timed.map(({ at }) => at!.getTime()).toSorted((a, b) => a - b),
        );
      },
    );
    fc.assert(holds, { numRuns: repetitions(200, 1_000) });
  });
});
