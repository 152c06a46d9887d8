import fc from 'fast-check';
import { leadZones } from '../../../src/data/phone/number-zones';
import { ianaName } from '../../../src/platform/time/zone';
import { CENTRAL, EASTERN, MOUNTAIN, PACIFIC } from '../../support/contact-hours';

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

  test(
    'an exchange may be elsewhere than its area code; one not listed is in all ' +
      'places of an area that has exchanges only',
    () => {
      expect([
        leadZones(18124210123, undefined, 'UTC'),
        leadZones(18125550123, undefined, 'UTC'),
      ]).toEqual([[CENTRAL], [EASTERN]]);
      expect(leadZones(12080000123, undefined, 'UTC')).toEqual([
        'America/Boise',
        MOUNTAIN,
        PACIFIC,
      ]);
    },
  );
  test('a country without a plan by place is all its zones', () => {
    expect(leadZones(79, undefined, 'UTC').length).toBeGreaterThan(0);
    expect(leadZones(70000000000, undefined, 'UTC')).toEqual(
      expect.arrayContaining(['Asia/Vladivostok', 'Europe/Moscow']),
    );
  });
  test.each([
    18005550123, 18335550123, 18445550123, 18555550123, 18665550123, 18775550123, 18885550123,
    19005550123, 15005550123, 1, 883123456789,
  ])('%d has no place: the ZIP decides, else the fallback', (number) => {
    expect(leadZones(number, undefined, 'Europe/Paris')).toEqual(['Europe/Paris']);
    expect(leadZones(number, '99999', 'Eastern Time (US & Canada)')).toEqual([EASTERN]);
    expect(leadZones(number, '79901-1234', 'Europe/Paris')).toEqual([MOUNTAIN]);
  });
  test('a ZIP of North America counts before the number; elsewhere five digits are no ZIP', () => {
    expect(leadZones(13105550123, '10001', 'UTC')).toEqual([EASTERN]);
    expect(leadZones(13105550123, '99999', 'UTC')).toEqual([PACIFIC]);
    expect(leadZones(13105550123, '90210', 'UTC')).toEqual([PACIFIC]);
    expect(leadZones(493012345678, '10115', 'UTC')).toEqual(['Europe/Berlin']);
    expect(leadZones(16715550123, '96941', 'UTC')).toEqual([ianaName('Pacific/Pohnpei')]);
  });
  test(
    'are never none, sorted, distinct, known and the same for the same lead, even ' +
      'if a caller changes a result',
    () => {
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
    },
  );
});
