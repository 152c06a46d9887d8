import fc from 'fast-check';
import { nextContact, type ContactHours } from '../../../src/platform/time/contact-hours';
import {
  openMinutes,
  parseRange,
  type ScheduleEntry,
} from '../../../src/platform/time/opening-hours';
import { EASTERN, PACIFIC } from '../../support/contact-hours';
import { repetitions } from '../../support/repetitions';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const clocks = new Map<string, Intl.DateTimeFormat>();

function findClock(zone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
  clocks.set(zone, clock);
  return clock;
}

function read(zone: string, at: number): { day: number; minute: number } {
  const [, day, hour, minute] = /(\w{3})\W+(\d\d):(\d\d)/.exec(findClock(zone).format(at))!;
  return { day: DAYS.indexOf(day!), minute: Number(hour) * 60 + Number(minute) };
}

type Case = {
  zones: string[];
  daylight: [number, number];
  business: ScheduleEntry[];
  business_zone: string;
  from: number;
};

const within = (minute: number, [from, to]: [number, number]) =>
  from <= to ? from <= minute && minute <= to : minute >= from || minute <= to;

function isOpen({ business, business_zone }: Case, at: number): boolean {
  const { day, minute } = read(business_zone, at);
  const covers = (entry: ScheduleEntry, [from, to]: [number, number]) =>
    (entry.day === day && minute >= from && (minute <= to || to < from)) ||
    ((entry.day + 1) % 7 === day && to < from && minute <= to);
  return (
    business.length === 0 ||
    business.some((entry) => entry.times.some((time) => covers(entry, parseRange(time)!)))
  );
}

/** Minute after minute, by the clocks of the runtime. */
function findContactTime(testCase: Case): { at: Date; shifted_by?: string } | undefined {
  const isDay = (at: number) =>
    testCase.zones.every((zone) => within(read(zone, at).minute, testCase.daylight));
  const shiftedBy = isDay(testCase.from) ? 'business_hours' : 'daylight_hours';
  for (
    let at = testCase.from;
    at < testCase.from + 14 * 86_400_000;
    at = (Math.floor(at / 60_000) + 1) * 60_000
  ) {
    if (isDay(at) && isOpen(testCase, at))
      return at === testCase.from
        ? { at: new Date(at) }
        : { at: new Date(at), shifted_by: shiftedBy };
  }
  return undefined;
}

const zone = fc.constantFrom(
  ...[
    EASTERN,
    PACIFIC,
    'America/St_Johns',
    'America/Havana',
    'America/Asuncion',
    'America/Santiago',
    'Europe/London',
    'Africa/Cairo',
    'Africa/Casablanca',
  ],
  ...[
    'Asia/Kathmandu',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Pacific/Apia',
    'UTC',
  ],
);

const change = fc.constantFrom(
  ...[
    '2026-03-08T07:00Z',
    '2026-11-01T06:00Z',
    '2026-03-08T05:00Z',
    '2026-11-01T05:00Z',
    '2023-10-01T04:00Z',
    '2024-03-24T03:00Z',
    '2026-09-06T04:00Z',
  ],
  ...[
    '2026-03-29T01:00Z',
    '2026-10-25T01:00Z',
    '2026-04-23T22:00Z',
    '2026-10-29T21:00Z',
    '2026-02-15T02:00Z',
    '2026-04-04T15:00Z',
    '2026-10-03T15:30Z',
  ],
  ...['2026-04-04T14:00Z', '2011-12-30T10:00Z'], // The last: Samoa leaves out a whole day.
);

const minute = fc.integer({ min: 0, max: 1439 });

const clockTime = (m: number) =>
  `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`;

const range = fc.oneof(
  fc.tuple(minute, minute),
  fc
    .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 }))
    .map(([from, length]): [number, number] => [from, from + length]),
);

const entry = fc.record({
  day: fc.integer({ min: 0, max: 6 }),
  times: fc.array(
    range.map(([a, b]) => `${clockTime(a)}..${clockTime(b)}`),
    { maxLength: 2 },
  ),
});

test('is what looking at every clock in every minute finds', () => {
  const anyCase = fc.record({
    zones: fc.uniqueArray(zone, { maxLength: 3 }),
    daylight: range,
    business: fc.array(entry, { maxLength: 4 }),
    business_zone: zone,
    from: fc
      .tuple(change, fc.integer({ min: -86_400_000, max: 20_000_000 }))
      .map(([at, ms]) => Date.parse(at) + ms),
  });
  fc.assert(
    fc.property(anyCase, (it) => {
      const hours: ContactHours = {
        daylight: it.daylight,
        business_open: openMinutes(it.business),
        business_zone: it.business_zone,
      };
      expect(nextContact(hours, it.zones, new Date(it.from))).toEqual(findContactTime(it));
    }),
    { numRuns: repetitions(20, 80) },
  );
});
