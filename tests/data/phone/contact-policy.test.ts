import { contactRefusal } from '../../../src/data/phone/contact-policy';

const US = { country: 'US', contact_countries: null, contact_prefixes: [] };
const PREMIUM = 'is of a satellite, or at a premium rate';
const inCountry = (country: string) =>
  `is in the country ${country}, where the company contacts nobody`;
const NOWHERE = 'is in no country where the company contacts people';

test.each([
  ['a number of the own country', 13105550123, undefined],
  ['one that is toll free', 18005550123, undefined],
  ['one whose area code is not assigned', 19995550123, undefined],
  ['Canada, which has the same country code', 14165550123, inCountry('CA')],
  ['the Caribbean', 18765550123, inCountry('JM')],
  ['a territory', 17875550123, inCountry('PR')],
  ['another continent', 442079460123, inCountry('GB')],
  ['area code 900', 19005550123, PREMIUM],
  ['an invalid number of it', 19001234567, PREMIUM],
  ['the exchange 976 of any area code', 13109761234, PREMIUM],
  ['an area code that begins so', 19765550123, undefined],
  ['area code 700, where the carrier decides what it costs', 17005550123, PREMIUM],
  ['a paid toll-free number', 18805550123, PREMIUM],
  ['one that is toll free, beside these', 18885550123, undefined],
  ['a personal number', 15005550123, 'is at a premium rate'],
  ['premium rate of several countries', 979123456789, PREMIUM],
  ['satellites', 870773123456, PREMIUM],
  ['satellites', 881612345678, PREMIUM],
  ['networks without a country', 88213123456, PREMIUM],
  ['networks without a country', 88351001234567, PREMIUM],
  ['shared cost of no country', 80812345678, 'is at a shared-cost rate'],
  ['toll free of no country', 80012345678, NOWHERE],
])('%s: %i', (_, number, refusal) => {
  expect(contactRefusal(number, US)).toBe(refusal);
});

test('premium rates are refused in countries that are allowed', () => {
  const policy = { ...US, contact_countries: ['GB'] };
  expect(contactRefusal(449098790000, policy)).toBe('is at a premium rate');
  // Personal numbers, which cost up to premium rates.
  for (const number of [447011234567, 447022123456])
    expect(contactRefusal(number, policy)).toBe('is at a premium rate');
  expect(contactRefusal(447400123456, policy)).toBe(undefined);
  expect(contactRefusal(442079460123, policy)).toBe(undefined);
  expect(contactRefusal(13105550123, policy)).toBe(inCountry('US'));
  expect(contactRefusal(19995550123, policy)).toBe(NOWHERE);
});

test('a list replaces the own country; an empty one is nobody', () => {
  expect(contactRefusal(13105550123, { ...US, contact_countries: [] })).toBe(inCountry('US'));
});

test.each(['1900', '979123', '44909', '882'])('the prefix %s opens its numbers alone', (prefix) => {
  const numbers = [19005550123, 979123456789, 449098790000, 88213123456];
  const opened = numbers.filter(
    (number) => contactRefusal(number, { ...US, contact_prefixes: [prefix] }) === undefined,
  );
  expect(opened.map(String)).toEqual([expect.stringMatching(`^${prefix}`)]);
});
