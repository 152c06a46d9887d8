import { leadZones } from '../../../src/data/phone/number-zones';
import { nextContact } from '../../../src/platform/time/contact-hours';
import { type ScheduleEntry } from '../../../src/platform/time/opening-hours';
import { CENTRAL, DEFAULT, EASTERN, buildHours, next, PACIFIC } from '../../support/contact-hours';

describe('the next contact', () => {
  const office: ScheduleEntry[] = [1, 2, 3, 4, 5].map((day) => ({ day, times: ['09:00..17:29'] }));
  test('is now, to the millisecond, when it is daylight and the business is open', () => {
    const from = new Date('2026-06-15T18:00:59.123Z');
    expect(nextContact(buildHours(DEFAULT, office), [EASTERN, PACIFIC], from)).toEqual({
      at: from,
    });
    expect(nextContact(buildHours('09:00..08:59'), [EASTERN], from)).toEqual({ at: from });
  });
  test('both minutes of the daylight are allowed, over midnight too', () => {
    expect(next(buildHours(DEFAULT), [EASTERN], '2026-06-15T11:59:59.999Z')).toBe(
      '2026-06-15T12:00Z daylight_hours',
    );
    expect(
      nextContact(buildHours(DEFAULT), [EASTERN], new Date('2026-06-16T00:59:59.999Z')),
    ).not.toHaveProperty('shifted_by');
    expect(next(buildHours(DEFAULT), [EASTERN], '2026-06-16T01:00:00Z')).toBe(
      '2026-06-16T12:00Z daylight_hours',
    );
    expect(next(buildHours('22:00..02:00'), [EASTERN], '2026-06-16T06:00:00Z')).toBe(
      '2026-06-16T06:00Z',
    );
    expect(next(buildHours('22:00..02:00'), [EASTERN], '2026-06-16T06:01:00Z')).toBe(
      '2026-06-17T02:00Z daylight_hours',
    );
  });
  test(
    'a business closed over the weekend opens on Monday; daylight is named when ' + 'both refuse',
    () => {
      expect(next(buildHours(DEFAULT, office), [EASTERN], '2026-06-12T21:30:00Z')).toBe(
        '2026-06-15T13:00Z business_hours',
      );
      expect(next(buildHours(DEFAULT, office), [EASTERN], '2026-06-13T03:00:00Z')).toBe(
        '2026-06-15T13:00Z daylight_hours',
      );
      expect(next(buildHours(DEFAULT, office), [PACIFIC], '2026-06-15T13:00:00Z')).toBe(
        '2026-06-15T15:00Z daylight_hours',
      );
    },
  );
  test(
    'a lead with a Los Angeles number and a New York ZIP is contacted from 08:00 ' +
      'to 20:59 Eastern',
    () => {
      const zones = leadZones(13105550123, '10001', 'UTC');
      expect(next(buildHours(DEFAULT), zones, '2026-06-15T11:59:00Z')).toBe(
        '2026-06-15T12:00Z daylight_hours',
      );
      expect(next(buildHours(DEFAULT), zones, '2026-06-16T00:59:00Z')).toBe('2026-06-16T00:59Z');
      expect(next(buildHours(DEFAULT), zones, '2026-06-16T01:00:00Z')).toBe(
        '2026-06-16T12:00Z daylight_hours',
      );
    },
  );
  test(
    'the south of Indiana waits for Central in the morning and stops by Eastern ' + 'at night',
    () => {
      const zones = leadZones(18125550123, '47586', 'UTC');
      expect(zones).toEqual([CENTRAL, EASTERN]);
      expect(next(buildHours(DEFAULT), zones, '2026-06-15T12:00:00Z')).toBe(
        '2026-06-15T13:00Z daylight_hours',
      );
      expect(next(buildHours(DEFAULT), zones, '2026-06-16T01:00:00Z')).toBe(
        '2026-06-16T13:00Z daylight_hours',
      );
    },
  );
  test(
    'there is none when zones share no daylight, the business never opens, or ' +
      'opens only at night',
    () => {
      expect(
        next(buildHours('08:00..10:59'), [EASTERN, PACIFIC], '2026-06-15T12:00:00Z'),
      ).toBeUndefined();
      expect(
        next(buildHours(DEFAULT, [{ day: 1, times: [] }]), [EASTERN], '2026-06-15T12:00:00Z'),
      ).toBeUndefined();
      expect(
        next(
          buildHours(DEFAULT, [{ day: 1, times: ['22:00..23:59'] }]),
          [EASTERN],
          '2026-10-25T12:00:00Z',
        ),
      ).toBeUndefined();
    },
  );
  test('an unknown zone is not daylight', () => {
    expect(() => next(buildHours(DEFAULT), ['Mars/Olympus'], '2026-06-15T12:00:00Z')).toThrow(
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
    expect(next(buildHours(daylight), [zone], from)).toBe(expected),
  );

  test('two zones that change three hours apart', () => {
    expect(next(buildHours('01:00..06:00'), [EASTERN, PACIFIC], '2026-03-08T05:00:00Z')).toBe(
      '2026-03-08T09:00Z daylight_hours',
    );
  });
  test(
    'one moment of the week that the change leaves out is found a week later, ' +
      'within the 14 days',
    () => {
      const once = buildHours('02:30..02:30', [{ day: 0, times: ['02:30..02:30'] }]);
      expect(next(once, [EASTERN], '2026-03-01T07:31:00Z')).toBe(
        '2026-03-15T06:30Z daylight_hours',
      );
    },
  );
  test('a business that opens in an hour that is missing, or in one that comes twice', () => {
    const business = buildHours('00:00..23:59', [
      { day: 0, times: ['01:30..01:44', '02:30..03:29'] },
    ]);
    expect(next(business, [], '2026-03-08T06:45:00Z')).toBe('2026-03-08T07:00Z business_hours');
    expect(next(business, [], '2026-11-01T05:45:00Z')).toBe('2026-11-01T06:30Z business_hours');
  });
});
