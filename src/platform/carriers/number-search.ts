import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max';
import type { AvailableNumber, NumberSearch } from './carrier';

const DEFAULT_LIMIT = 20;
export const MAX_NUMBERS = 1000;
/** Digits of the longest national numbers of the countries that are sold. */
const MAX_NATIONAL_DIGITS = 10;
/** Letter groups of the keys 2 to 9 (ITU-T E.161). */
const KEYS = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqrs', 'tuv', 'wxyz'];

export const readLimit = ({ limit = DEFAULT_LIMIT }: NumberSearch): number =>
  Math.min(Math.max(Math.trunc(limit), 1), MAX_NUMBERS);

/** The prefix of a search without country code and trunk digit (0, in North America 1). */
export function nationalPrefix({ country, prefix = '' }: NumberSearch): string {
  const digits = prefix.replace(/\D/g, '');
  const code = callingCode(country);
  if (prefix.trim().startsWith('+'))
    return digits.startsWith(code) ? digits.slice(code.length) : digits;
  return digits.replace(code === '1' ? /^1/ : /^0/, '');
}

/**
 * The query of a search as digits and `*`, without punctuation, and without country code and trunk
 * digit when it is a whole number.
 */
export function keypadPattern({ country, query = '' }: NumberSearch): string {
  const pattern = query
    .toLowerCase()
    .replace(/[^a-z0-9*]/g, '')
    .replace(/[a-z]/g, (letter) => String(KEYS.findIndex((key) => key.includes(letter)) + 2));
  const code = callingCode(country);
  if (
    code &&
    pattern.startsWith(code) &&
    (query.trim().startsWith('+') || pattern.length > MAX_NATIONAL_DIGITS)
  )
    return pattern.slice(code.length);
  return pattern.length >= MAX_NATIONAL_DIGITS ? pattern.replace(/^0/, '') : pattern;
}

export function pick(numbers: Iterable<AvailableNumber>, search: NumberSearch): AvailableNumber[] {
  const skipped = callingCode(search.country).length + 1;
  const prefix = nationalPrefix(search);
  const query = new RegExp(keypadPattern(search).replaceAll('*', '\\d'));
  const except = new Set(search.except);
  const limit = readLimit(search);
  const matches: AvailableNumber[] = [];
  for (const number of numbers) {
    if (matches.length === limit) break;
    const national = number.phone_number.slice(skipped);
    if (number.country !== search.country || number.toll_free !== (search.toll_free ?? false))
      continue;
    if (national.startsWith(prefix) && query.test(national) && !except.has(number.phone_number))
      matches.push(number);
  }
  return matches;
}

const callingCode = (country: string): string =>
  isSupportedCountry(country) ? getCountryCallingCode(country) : '';
