import {
  getCountryCallingCode as callingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

// Decides if a company calls and texts a number. Anyone can submit one to a public form: without
// limits, the company would pay for calls to premium rates and satellites.

/** The countries and numbers that a company calls and texts. */
export interface ContactPolicy {
  /** Two letters: of the company. */
  country: string;
  /** Two letters each; null for the company's own alone. */
  contact_countries: readonly string[] | null;
  /** First digits of numbers that may be contacted in any case. */
  contact_prefixes: readonly string[];
}

/**
 * Numbers that cost extra, whatever their table says: in North America 900, the exchange 976, and
 * the area codes of carriers (456, 700, 880 to 882); elsewhere universal personal numbers,
 * satellites, networks of several countries, and 979.
 */
const COSTLY = /^(?:1(?:456|700|88[0-2]|900)|1\d{3}976|87[08]|88[123]|979)/;

/** Personal and shared-cost numbers can lead anywhere, at a price that benefits their owner. */
const COSTLY_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  ['PREMIUM_RATE', 'is at a premium rate'],
  ['PERSONAL_NUMBER', 'is at a premium rate'],
  ['SHARED_COST', 'is at a shared-cost rate'],
]);

/** Facts about a number; `country` is undefined where it cannot be determined. */
interface NumberOrigin {
  country: string | undefined;
  calling_code: string;
  /** Why it costs extra; undefined where it does not. */
  surcharge: string | undefined;
}

/** Why a number (E.164 digits) must not be called or texted; undefined when it may be. */
export function contactRefusal(
  number: number | string,
  { country, contact_countries, contact_prefixes }: ContactPolicy,
): string | undefined {
  const digits = String(number);
  if (contact_prefixes.some((prefix) => digits.startsWith(prefix))) return undefined;
  if (COSTLY.test(digits)) return 'is of a satellite, or at a premium rate';
  const allowed = contact_countries ?? [country];
  const origin = findOrigin(digits);
  if (origin?.surcharge) return origin.surcharge;
  if (origin && isAmong(allowed, origin)) return undefined;
  return origin?.country
    ? `is in the country ${origin.country}, where the company contacts nobody`
    : 'is in no country where the company contacts people';
}

/** A number of an undetermined country counts for every country with its calling code. */
const isAmong = (allowed: readonly string[], { country, calling_code }: NumberOrigin): boolean =>
  country === undefined
    ? allowed.some(
        (allowedCountry) =>
          isSupportedCountry(allowedCountry) && callingCode(allowedCountry) === calling_code,
      )
    : allowed.includes(country);

const MAX_CACHED = 10_000;
const originsBySample = new Map<string, NumberOrigin | undefined>();

/** In North America the area code decides, so most numbers share a few look-ups. */
function findOrigin(digits: string): NumberOrigin | undefined {
  const isNorthAmerican = digits.length === 11 && digits.startsWith('1');
  const sample = isNorthAmerican ? `${digits.slice(0, 4)}5550123` : digits;
  if (originsBySample.has(sample)) return originsBySample.get(sample);
  if (originsBySample.size >= MAX_CACHED) originsBySample.clear();
  const origin = lookUp(sample);
  originsBySample.set(sample, origin);
  return origin;
}

function lookUp(digits: string): NumberOrigin | undefined {
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  return (
    parsed && {
      country: parsed.country,
      calling_code: parsed.countryCallingCode,
      surcharge: COSTLY_TYPES.get(parsed.getType()),
    }
  );
}
