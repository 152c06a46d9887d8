import fc from 'fast-check';
import { nextContact, type ContactHours } from '../../src/time/contact-hours';
import { openMinutes, parseRange, type ScheduleEntry } from '../../src/time/opening-hours';
import { leadZones } from '../../src/phone/number-zones';
import { ianaName } from '../../src/time/zone';
import { zipZones } from '../../src/phone/zip-zones';

const [EASTERN, CENTRAL, MOUNTAIN, PACIFIC] = [
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
] as const;
const DEFAULT = '08:00..20:59';

const hoursOf = (
  daylight: string,
  business: ScheduleEntry[] = [],
  business_zone: string = EASTERN,
): ContactHours => ({
  daylight: parseRange(daylight)!,
  business_open: openMinutes(business),
  business_zone,
});
/** When contact is allowed, as `at` and what shifted it; the date is left out where it is that of `from`. */
const next = (hours: ContactHours, zones: string[], from: string) => {
  const found = nextContact(hours, zones, new Date(from));
  return (
    found &&
    [
      found.at.toISOString().replace(':00.000Z', 'Z'),
      ...(found.shifted_by ? [found.shifted_by] : []),
    ].join(' ')
  );
};

describe('the next contact', () => {
  const office: ScheduleEntry[] = [1, 2, 3, 4, 5].map((day) => ({ day, times: ['09:00..17:29'] }));
  test('is now, to the millisecond, when it is daylight and the business is open', () => {
    const from = new Date('2026-06-15T18:00:59.123Z');
    expect(nextContact(hoursOf(DEFAULT, office), [EASTERN, PACIFIC], from)).toEqual({ at: from });
    expect(nextContact(hoursOf('09:00..08:59'), [EASTERN], from)).toEqual({ at: from });
  });
  test('both minutes of the daylight are allowed, over midnight too', () => {
    expect(next(hoursOf(DEFAULT), [EASTERN], '2026-06-15T11:59:59.999Z')).toBe(
      '2026-06-15T12:00Z daylight_hours',
    );
    expect(
      nextContact(hoursOf(DEFAULT), [EASTERN], new Date('2026-06-16T00:59:59.999Z')),
    ).not.toHaveProperty('shifted_by');
    expect(next(hoursOf(DEFAULT), [EASTERN], '2026-06-16T01:00:00Z')).toBe(
      '2026-06-16T12:00Z daylight_hours',
    );
    expect(next(hoursOf('22:00..02:00'), [EASTERN], '2026-06-16T06:00:00Z')).toBe(
      '2026-06-16T06:00Z',
    );
    expect(next(hoursOf('22:00..02:00'), [EASTERN], '2026-06-16T06:01:00Z')).toBe(
      '2026-06-17T02:00Z daylight_hours',
    );
  });
  test('a business closed over the weekend opens on Monday; daylight is named when both refuse', () => {
    expect(next(hoursOf(DEFAULT, office), [EASTERN], '2026-06-12T21:30:00Z')).toBe(
      '2026-06-15T13:00Z business_hours',
    );
    expect(next(hoursOf(DEFAULT, office), [EASTERN], '2026-06-13T03:00:00Z')).toBe(
      '2026-06-15T13:00Z daylight_hours',
    );
    expect(next(hoursOf(DEFAULT, office), [PACIFIC], '2026-06-15T13:00:00Z')).toBe(
      '2026-06-15T15:00Z daylight_hours',
    );
  });
  test('a lead with a Los Angeles number and a New York ZIP is contacted from 11:00 to 20:59 Eastern', () => {
    const zones = leadZones(13105550123, '10001', 'UTC');
    expect(next(hoursOf(DEFAULT), zones, '2026-06-15T12:00:00Z')).toBe(
      '2026-06-15T15:00Z daylight_hours',
    );
    expect(next(hoursOf(DEFAULT), zones, '2026-06-16T00:59:00Z')).toBe('2026-06-16T00:59Z');
    expect(next(hoursOf(DEFAULT), zones, '2026-06-16T01:00:00Z')).toBe(
      '2026-06-16T15:00Z daylight_hours',
    );
  });
  test('the south of Indiana waits for Central in the morning and stops by Eastern at night', () => {
    const zones = leadZones(18125550123, '47586', 'UTC');
    expect(zones).toEqual([CENTRAL, EASTERN]);
    expect(next(hoursOf(DEFAULT), zones, '2026-06-15T12:00:00Z')).toBe(
      '2026-06-15T13:00Z daylight_hours',
    );
    expect(next(hoursOf(DEFAULT), zones, '2026-06-16T01:00:00Z')).toBe(
      '2026-06-16T13:00Z daylight_hours',
    );
  });
  test('there is none when zones share no daylight, the business never opens, or opens only at night', () => {
    expect(
      next(hoursOf('08:00..10:59'), [EASTERN, PACIFIC], '2026-06-15T12:00:00Z'),
    ).toBeUndefined();
    expect(
      next(hoursOf(DEFAULT, [{ day: 1, times: [] }]), [EASTERN], '2026-06-15T12:00:00Z'),
    ).toBeUndefined();
    expect(
      next(
        hoursOf(DEFAULT, [{ day: 1, times: ['22:00..23:59'] }]),
        [EASTERN],
        '2026-10-25T12:00:00Z',
      ),
    ).toBeUndefined();
  });
  test('a zone that nobody knows is no daylight', () => {
    expect(() => next(hoursOf(DEFAULT), ['Mars/Olympus'], '2026-06-15T12:00:00Z')).toThrow(
      RangeError,
    );
  });
});

describe('nights on which clocks change', () => {
  test.each([
    [
      'New York, 02:30 is missing: opens where the clock goes on',
      EASTERN,
      '02:30..03:15',
      '2026-03-08T05:00:00Z',
      '2026-03-08T07:00Z daylight_hours',
    ],
    [
      'New York, the whole window is missing',
      EASTERN,
      '02:00..02:59',
      '2026-03-08T06:59:00Z',
      '2026-03-09T06:00Z daylight_hours',
    ],
    [
      'New York, the morning after is an hour earlier',
      EASTERN,
      DEFAULT,
      '2026-03-08T05:00:00Z',
      '2026-03-08T12:00Z daylight_hours',
    ],
    [
      'New York, 01:30 comes',
      EASTERN,
      '01:30..01:59',
      '2026-11-01T05:00:00Z',
      '2026-11-01T05:30Z daylight_hours',
    ],
    [
      'New York, 01:30 comes twice',
      EASTERN,
      '01:30..01:59',
      '2026-11-01T06:00:00Z',
      '2026-11-01T06:30Z daylight_hours',
    ],
    [
      'New York, the morning after is an hour later',
      EASTERN,
      DEFAULT,
      '2026-11-01T05:00:00Z',
      '2026-11-01T13:00Z daylight_hours',
    ],
    [
      'Havana, midnight is missing',
      'America/Havana',
      '00:00..00:30',
      '2026-03-08T04:31:00Z',
      '2026-03-09T04:00Z daylight_hours',
    ],
    [
      'Havana, midnight comes twice',
      'America/Havana',
      '00:30..00:59',
      '2026-11-01T05:00:00Z',
      '2026-11-01T05:30Z daylight_hours',
    ],
    [
      'Asuncion, midnight is missing',
      'America/Asuncion',
      '00:00..06:00',
      '2023-10-01T03:59:00Z',
      '2023-10-01T04:00Z daylight_hours',
    ],
    [
      'Asuncion, the last hour of Saturday comes twice',
      'America/Asuncion',
      '23:15..23:45',
      '2024-03-24T02:46:00Z',
      '2024-03-24T03:15Z daylight_hours',
    ],
    [
      'Lord Howe, half an hour comes twice',
      'Australia/Lord_Howe',
      '01:45..01:59',
      '2026-04-04T15:00:00Z',
      '2026-04-04T15:15Z daylight_hours',
    ],
  ])('%s', (_name, zone, daylight, from, expected) =>
    expect(next(hoursOf(daylight), [zone], from)).toBe(expected),
  );

  test('two zones that change three hours apart', () => {
    expect(next(hoursOf('01:00..06:00'), [EASTERN, PACIFIC], '2026-03-08T05:00:00Z')).toBe(
      '2026-03-08T09:00Z daylight_hours',
    );
  });
  test('one moment of the week that the change leaves out is found a week later, within the 14 days', () => {
    const once = hoursOf('02:30..02:30', [{ day: 0, times: ['02:30..02:30'] }]);
    expect(next(once, [EASTERN], '2026-03-01T07:31:00Z')).toBe('2026-03-15T06:30Z daylight_hours');
  });
  test('a business that opens in an hour that is missing, or in one that comes twice', () => {
    const business = hoursOf('00:00..23:59', [{ day: 0, times: ['01:30..01:44', '02:30..03:29'] }]);
    expect(next(business, [], '2026-03-08T06:45:00Z')).toBe('2026-03-08T07:00Z business_hours');
    expect(next(business, [], '2026-11-01T05:45:00Z')).toBe('2026-11-01T06:30Z business_hours');
  });
});

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const clocks = new Map<string, Intl.DateTimeFormat>();
function clockOf(zone: string): Intl.DateTimeFormat {
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
  const [, day, hour, minute] = /(\w{3})\W+(\d\d):(\d\d)/.exec(clockOf(zone).format(at))!;
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
function lookedUp(one: Case): { at: Date; shifted_by?: string } | undefined {
  const isDay = (at: number) =>
    one.zones.every((zone) => within(read(zone, at).minute, one.daylight));
  const shifted_by = isDay(one.from) ? 'business_hours' : 'daylight_hours';
  for (
    let at = one.from;
    at < one.from + 14 * 86_400_000;
    at = (Math.floor(at / 60_000) + 1) * 60_000
  ) {
    if (isDay(at) && isOpen(one, at))
      return at === one.from ? { at: new Date(at) } : { at: new Date(at), shifted_by };
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
  const one = fc.record({
    zones: fc.uniqueArray(zone, { maxLength: 3 }),
    daylight: range,
    business: fc.array(entry, { maxLength: 4 }),
    business_zone: zone,
    from: fc
      .tuple(change, fc.integer({ min: -86_400_000, max: 20_000_000 }))
      .map(([at, ms]) => Date.parse(at) + ms),
  });
  fc.assert(
    fc.property(one, (it) => {
      const hours: ContactHours = {
        daylight: it.daylight,
        business_open: openMinutes(it.business),
        business_zone: it.business_zone,
      };
      expect(nextContact(hours, it.zones, new Date(it.from))).toEqual(lookedUp(it));
    }),
    { numRuns: 80 },
  );
});

describe('the zones of a lead', () => {
  test.each([
    [12125550123, [EASTERN]],
    [13125550123, [CENTRAL]],
    [13035550123, [MOUNTAIN]],
    [13105550123, [PACIFIC]],
    [16025550123, ['America/Phoenix']],
    [18085550123, ['Pacific/Honolulu']],
    [19075550123, ['America/Adak', 'America/Anchorage']],
    [17875550123, ['America/Puerto_Rico']],
    [14165550123, ['America/Toronto']],
    [16045550123, ['America/Vancouver']],
    [18765550123, ['America/Jamaica']],
    [17755550123, ['America/Boise', PACIFIC]],
    [441212345678, ['Europe/London']],
    [61412345678, ['Australia/Sydney']],
    [911123456789, [ianaName('Asia/Kolkata')]],
  ])('%d', (number, zones) => expect(leadZones(number, undefined, 'UTC')).toEqual(zones));

  test('an exchange may be elsewhere than its area code; one not listed is in all places of an area that has exchanges only', () => {
    expect([
      leadZones(18124210123, undefined, 'UTC'),
      leadZones(18125550123, undefined, 'UTC'),
    ]).toEqual([[CENTRAL], [EASTERN]]);
    expect(leadZones(12080000123, undefined, 'UTC')).toEqual(['America/Boise', MOUNTAIN, PACIFIC]);
  });
  test('a country without a plan by place is all its zones', () => {
    expect(leadZones(79, undefined, 'UTC').length).toBeGreaterThan(0);
    expect(leadZones(70000000000, undefined, 'UTC')).toEqual(
      expect.arrayContaining(['Asia/Vladivostok', 'Europe/Moscow']),
    );
  });
  test.each([
    18005550123, 18335550123, 18445550123, 18555550123, 18665550123, 18775550123, 18885550123,
    19005550123, 15005550123, 1, 883123456789,
  ])('%d is in no place: the ZIP tells, else the fallback', (number) => {
    expect(leadZones(number, undefined, 'Europe/Paris')).toEqual(['Europe/Paris']);
    expect(leadZones(number, '99999', 'Eastern Time (US & Canada)')).toEqual([EASTERN]);
    expect(leadZones(number, '79901-1234', 'Europe/Paris')).toEqual([MOUNTAIN]);
  });
  test('number and ZIP of North America count both, once; elsewhere five digits are no ZIP', () => {
    expect(leadZones(13105550123, '10001', 'UTC')).toEqual([PACIFIC, EASTERN]);
    expect(leadZones(13105550123, '90210', 'UTC')).toEqual([PACIFIC]);
    expect(leadZones(493012345678, '10115', 'UTC')).toEqual(['Europe/Berlin']);
    expect(leadZones(16715550123, '96941', 'UTC')).toEqual([
      'Pacific/Guam',
      ianaName('Pacific/Pohnpei'),
    ]);
  });
  test('are never none, sorted, distinct, known and the same for the same lead, whoever changes an answer', () => {
    const zip = fc.option(
      fc.oneof(fc.stringMatching(/^\d{5}$/), fc.stringMatching(/^[A-Z]\d[A-Z]$/), fc.string()),
      { nil: undefined },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer({ min: 12_000_000_000, max: 19_999_999_999 }),
          fc.integer({ min: 0, max: 999_999_999_999_999 }),
        ),
        zip,
        (number, code) => {
          const zones = leadZones(number, code, 'UTC');
          expect(zones.length).toBeGreaterThan(0);
          expect(zones).toEqual([...new Set(zones)].sort());
          expect(zones.map(ianaName)).toEqual(zones);
          zones.push('Mars');
          expect(leadZones(number, code, 'UTC')).toEqual(zones.slice(0, -1));
        },
      ),
    );
  });
});

describe('the zones of a ZIP code', () => {
  test.each([
    ['79901', [MOUNTAIN]],
    ['79830', [CENTRAL, MOUNTAIN]],
    ['78701', [CENTRAL]],
    ['32501', [CENTRAL]],
    ['32201', [EASTERN]],
    ['32456', [EASTERN, CENTRAL]],
    ['83814', [PACIFIC]],
    ['83702', [MOUNTAIN]],
    ['83501', [MOUNTAIN, PACIFIC]],
    ['47901', [EASTERN, CENTRAL]],
    ['47708', [CENTRAL]],
    ['46402', [CENTRAL]],
    ['42001', [CENTRAL]],
    ['37402', [EASTERN]],
    ['49801', [EASTERN, CENTRAL]],
    ['57501', [CENTRAL, MOUNTAIN]],
    ['58701', [CENTRAL]],
    ['69101', [CENTRAL, MOUNTAIN]],
    ['97914', [MOUNTAIN, PACIFIC]],
    ['86040', [MOUNTAIN, 'America/Phoenix']],
    ['85001', ['America/Phoenix']],
    ['00901', ['America/Puerto_Rico']],
    ['96799', ['Pacific/Pago_Pago']],
    ['96701', ['Pacific/Honolulu']],
    ['99901', ['America/Anchorage']],
    ['99546', ['America/Adak']],
    [' 02134-1000 ', [EASTERN]],
    ['021341000', [EASTERN]],
    ['606', [CENTRAL]],
    ['A1C 5S7', ['America/St_Johns']],
    ['A2V', ['America/Goose_Bay']],
    ['b3h4r2', ['America/Halifax']],
    ['V6B 1A1', ['America/Vancouver']],
    ['V1J', ['America/Dawson_Creek']],
    ['P', ['America/Toronto', 'America/Winnipeg']],
    ['P3E 1A1', ['America/Toronto']],
    ['P9N-1A1', ['America/Winnipeg']],
    ['S4P 3Y2', ['America/Regina']],
    ['T', ['America/Edmonton']],
  ])('%s', (zip, zones) => expect(zipZones(zip)).toEqual(zones));
  test.each([
    '',
    '99999',
    '00000',
    '09012',
    '34002',
    '96201',
    '2134',
    '123456',
    '9021O',
    'W1A 1AA',
    'D04 X285',
    'Q',
    'A1',
    'constructor',
    '٩٠٢١٠',
  ])('%p is none, or of no place', (zip) => expect(zipZones(zip)).toEqual([]));
  test('are known names in every code of the table', () => {
    const codes = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].flatMap((a) => [
      a,
      ...[...'0123456789'].flatMap((n) => [...'ABCEGHJKLMNPRSTVWXYZ'].map((b) => a + n + b)),
    ]);
    const whole = ['96939', '96941', '96942', '96944', '96960'];
    expect(
      [...codes, ...letters, ...whole]
        .flatMap(zipZones)
        .filter((name) => ianaName(name) === undefined),
    ).toEqual([]);
  });
});
