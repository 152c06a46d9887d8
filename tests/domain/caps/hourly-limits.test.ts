import fc from 'fast-check';
import { listRaisedLimits } from '../../../src/domain/caps/hourly-limits';
import { isOpenAt, openMinutes } from '../../../src/platform/time/opening-hours';
import type { Schemas } from '../../../src/platform/contract/contract';

type Entry = Schemas['BusinessHours'];

const WEEK = 10_080;
const padTwo = (n: number) => String(n).padStart(2, '0');
const time = fc
  .integer({ min: 0, max: 23 })
  .map((hour) => `${padTwo(hour)}:${padTwo((hour * 7) % 60)}`);
const entries: fc.Arbitrary<Entry[]> = fc.array(
  fc.record({
    attempt_hourly_limit: fc.option(fc.integer({ min: 0, max: 4 })),
    schedule: fc.array(
      fc.record({
        day: fc.integer({ min: 0, max: 6 }),
        times: fc.array(
          fc.tuple(time, time).map(([from, to]) => `${from}..${to}`),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 3 },
    ),
  }),
  { maxLength: 3 },
);

/** The limit at a minute: undefined while closed, Infinity without one. */
function limitFinder(hours: Entry[]): (minute: number) => number | undefined {
  if (hours.length === 0) return () => Infinity;
  const ranges = hours.map(({ schedule, attempt_hourly_limit }) => ({
    open: openMinutes(schedule),
    limit: attempt_hourly_limit ?? Infinity,
  }));
  return (minute) => ranges.find(({ open }) => isOpenAt(open, minute))?.limit;
}

const findLoosest = (hours: Entry[]) =>
  hours.length === 0
    ? Infinity
    : Math.max(...hours.map(({ attempt_hourly_limit }) => attempt_hourly_limit ?? Infinity));

test('a limit is raised exactly if it is looser at some minute of the week', () => {
  fc.assert(
    fc.property(entries, entries, (before, after) => {
      const [findBefore, findAfter] = [limitFinder(before), limitFinder(after)];
      const isLooser = (minute: number) => {
        const limit = findAfter(minute);
        return limit !== undefined && limit > (findBefore(minute) ?? findLoosest(before));
      };
      const isRaised = Array.from({ length: WEEK }, (_, minute) => minute).some(isLooser);
      expect(listRaisedLimits(before, after).length > 0).toBe(isRaised);
    }),
    { numRuns: 60 },
  );
});

test('the entry and the lowest maximum are named', () => {
  const monday = { day: 1, times: ['09:00..16:59'] };
  const tuesday = { day: 2, times: ['09:00..16:59'] };
  const before = [
    { attempt_hourly_limit: 9, revenue_hourly_limit: 20, schedule: [monday] },
    { attempt_hourly_limit: 2, schedule: [tuesday] },
  ];
  const after = [
    { attempt_hourly_limit: 1, revenue_hourly_limit: 20.5, schedule: [monday] },
    { attempt_hourly_limit: 10, schedule: [monday, tuesday] },
  ];
  expect(listRaisedLimits(before, after)).toEqual([
    { position: 0, metric: 'revenue', max: 20 },
    { position: 1, metric: 'attempt', max: 2 },
  ]);
  expect(listRaisedLimits(before, [])).toContainEqual({
    position: undefined,
    metric: 'attempt',
    max: 2,
  });
});
