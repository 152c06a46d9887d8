import fc from 'fast-check';
import { nextContact } from '../../../src/platform/time/contact-hours';
import { isOpenAt, openMinutes, parseRange } from '../../../src/platform/time/opening-hours';
import { DISPLAY_NAMES } from '../../../src/platform/time/zone-names';
import {
  ianaName,
  IANA_NAMES,
  toInstant,
  offsetAt,
  parseInstant,
} from '../../../src/platform/time/zone';
import { parseFilter, splitPairs } from '../../../src/platform/tokens/filters';
import { uuidv7 } from '../../../src/data/uuid';
import { useWorld } from '../../support/use-world';

const world = useWorld();

const minute = fc.integer({ min: 0, max: 1439 });
const clockTime = (m: number) =>
  `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`;
const entry = fc.record({
  day: fc.integer({ min: 0, max: 6 }),
  times: fc.array(
    fc.tuple(minute, minute).map(([a, b]) => `${clockTime(a)}..${clockTime(b)}`),
    { maxLength: 3 },
  ),
});

describe('opening hours', () => {
  test(
    'both minutes of a range are open, those around it are not, and a whole day ' + 'is a day',
    () => {
      const open = openMinutes([{ day: 1, times: ['09:00..17:59'] }]);
      const at = (day: number, time: string) =>
        isOpenAt(open, day * 1440 + parseRange(`${time}..${time}`)![0]);
      expect(['08:59', '09:00', '17:59', '18:00'].map((time) => at(1, time))).toEqual([
        false,
        true,
        true,
        false,
      ]);
      expect(openMinutes([{ day: 3, times: ['00:00..23:59'] }])).toEqual([3 * 1440, 4 * 1440]);
    },
  );
  test('a range over midnight runs into the next day, on Saturday into Sunday', () => {
    const open = openMinutes([{ day: 6, times: ['22:00..02:00'] }]);
    expect(open).toEqual([0, 121, 6 * 1440 + 1320, 10080]);
  });
  test('no entry is always open; entries without times never are', () => {
    expect([
      isOpenAt(openMinutes([]), 77),
      isOpenAt(openMinutes([{ day: 1, times: [] }]), 77),
      isOpenAt(openMinutes([{ day: 1, times: [] }]), 10079),
    ]).toEqual([true, false, false]);
  });
  test('is open exactly in the union of its ranges, in TypeScript and in SQL alike', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 0, max: 10079 }), { minLength: 5, maxLength: 5 }),
        async (schedule, minutes) => {
          const covered = (m: number) =>
            schedule.some(({ day, times }) =>
              times.some((time) => {
                const [from, to] = parseRange(time)!;
                const length = (to - from + 1440) % 1440;
                return (m - (day * 1440 + from) + 10080) % 10080 <= length;
              }),
            );
          const open = openMinutes(schedule);
          expect(minutes.map((m) => isOpenAt(open, m))).toEqual(minutes.map(covered));
          const rows = await world.sql<{ open: boolean }>(
            'SELECT is_open($1::int[], m) AS open FROM unnest($2::int[]) WITH ' +
              'ORDINALITY u(m, n) ORDER BY n',
            [open, minutes],
          );
          expect(rows.map((row) => row.open)).toEqual(minutes.map(covered));
        },
      ),
      { numRuns: 60 },
    );
  });
  test('opens next at the same minute in TypeScript and in SQL', async () => {
    // Zones without a change of the clock in this time.
    const zones = fc.constantFrom('America/New_York', 'America/Phoenix', 'Asia/Kolkata', 'UTC');
    const instants = fc.date({
      min: new Date('2026-06-01T00:00:00Z'),
      max: new Date('2026-06-15T00:00:00Z'),
      noInvalidDate: true,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        zones,
        instants,
        async (schedule, zone, at) => {
          const open = openMinutes(schedule);
          const hours = { daylight: [0, 1439], business_open: open, business_zone: zone } as const;
          const next = nextContact(hours, [], at);
          fc.pre(next === undefined || next.shifted_by !== undefined);
          const [row] = await world.sql<{ at: Date | null }>(
            'SELECT next_opening($1::int[], $2, $3::timestamptz) AS at',
            [open, zone, at],
          );
          expect(row!.at?.toISOString()).toBe(next?.at.toISOString());
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('zones', () => {
  test('every display name leads to a zone that is known', () => {
    expect(Object.values(DISPLAY_NAMES).filter((name) => ianaName(name) === undefined)).toEqual([]);
    expect([
      ianaName('Eastern Time (US & Canada)'),
      ianaName('UTC'),
      ianaName('Mars'),
      ianaName('+05:00'),
      ianaName('constructor'),
    ]).toEqual(['America/New_York', 'UTC', undefined, undefined, undefined]);
  });
  test(
    'a wall-clock time is the instant PostgreSQL makes of it, on change ' + 'nights too',
    async () => {
      const zones = fc.constantFrom(
        'America/New_York',
        'America/Santiago',
        'Europe/London',
        'Asia/Kolkata',
        'Australia/Lord_Howe',
        'America/St_Johns',
        'Africa/Cairo',
        'Pacific/Auckland',
      );
      const changes = fc.constantFrom(
        '2026-03-08',
        '2026-11-01',
        '2026-03-29',
        '2026-10-25',
        '2026-04-05',
        '2026-10-04',
        '2026-09-06',
        '2026-04-24',
        '2026-06-15',
      );
      await fc.assert(
        fc.asyncProperty(
          zones,
          changes,
          fc.integer({ min: 0, max: 1439 }),
          async (zone, day, m) => {
            const text = `${day} ${clockTime(m)}:00`;
            const [row] = await world.sql<{ at: Date }>(
              'SELECT $1::timestamp AT TIME ZONE $2 AS at',
              [text, zone],
            );
            expect(parseInstant(text, zone)!.toISOString()).toBe(row!.at.toISOString());
          },
        ),
        { numRuns: 150 },
      );
    },
  );
  test('02:30 on the spring night of New York counts from the offset before', () => {
    expect(toInstant(new Date('2026-03-08T02:30:00Z'), 'America/New_York').toISOString()).toBe(
      '2026-03-08T07:30:00.000Z',
    );
    expect([
      offsetAt('America/New_York', new Date('2026-03-08T06:59:59Z')),
      offsetAt('America/New_York', new Date('2026-03-08T07:00:00Z')),
    ]).toEqual([-5 * 3_600_000, -4 * 3_600_000]);
    expect(IANA_NAMES.length).toBeGreaterThan(400);
  });
});

describe('token filters', () => {
  test.each([
    ['state:CA', '=', 'CA'],
    ['age:>=18', '>=', '18'],
    ['age:< 18.5', '<', '18.5'],
    ['state:!=CA', '!=', 'CA'],
    ['state:in CA,NV', 'in', 'CA,NV'],
    ['state:not in CA|NV', 'not in', 'CA|NV'],
    ['zip:=~^9\\d{4}$', '=~', '^9\\d{4}$'],
    ['note:index', '=', 'index'],
    ['url:http://x:1', '=', 'http://x:1'],
    ['empty:', '=', ''],
  ])('%s', (text, operator, operand) =>
    expect(parseFilter(text)).toMatchObject({ operator, operand }),
  );
  test.each(['no colon', ':x', 'Upper:x', 'age:>=old', 'zip:=~(', 'zip:=~(a)\\1', '__proto__ :x'])(
    '%s is none',
    (text) => expect(parseFilter(text)).toBeUndefined(),
  );
  test('pairs are split where a key follows', () =>
    expect(splitPairs('a:1,2,b:3, c_1:,,d:x')).toEqual(['a:1,2', 'b:3', 'c_1:,', 'd:x']));
});

test('uuids are version 7, of their time, and distinct', () => {
  const ids = Array.from({ length: 1000 }, () => uuidv7(1_795_000_000_000));
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids)
    expect(id).toMatch(/^01a1ee56-5e00-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
