import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

/** Spellings of a person in texts. */
export interface Spellings {
  /** The number as dialed at home and from abroad. */
  digits: string[];
  /** A regular expression of PostgreSQL for the number and the addresses within a text. */
  pattern: string;
}

/**
 * A number of E.164 without the plus, and the country in which numbers are written without a
 * country code.
 */
export interface NumberInCountry {
  number: string;
  country: string;
}

/** A shorter number without its country code would match unrelated text. */
const MIN_LOCAL_DIGITS = 7;

/** Up to three characters that are neither letters nor digits may separate two digits. */
const SEPARATOR_PATTERN = '[^[:alnum:]]{0,3}';

export function spellPerson(phone: NumberInCountry, emails: readonly string[]): Spellings {
  const { number } = phone;
  const local = toNationalDigits(phone);
  return {
    digits: [number, `00${number}`, `011${number}`, ...(local ?? [])],
    pattern: [buildNumberPattern(number, local), ...emails.map(buildEmailPattern)].join('|'),
  };
}

export const spellEmails = (emails: readonly string[]): Spellings => ({
  digits: [],
  pattern: emails.map(buildEmailPattern).join('|'),
});

/**
 * The number without country code, as dialed within its country. Written elsewhere it is another
 * number, unless it begins with a prefix such as the zero.
 */
function toNationalDigits({ number, country }: NumberInCountry): [string] | undefined {
  const parsed = parsePhoneNumberFromString(`+${number}`);
  if (!parsed) return undefined;
  const local = parsed.formatNational().replace(/\D/g, '');
  const isHome =
    isSupportedCountry(country) && getCountryCallingCode(country) === parsed.countryCallingCode;
  const isClear = isHome || local !== parsed.nationalNumber;
  return isClear && local.length >= MIN_LOCAL_DIGITS ? [local] : undefined;
}

const joinDigits = (digits: string): string => [...digits].join(SEPARATOR_PATTERN);

function buildNumberPattern(number: string, local: [string] | undefined): string {
  const national = parsePhoneNumberFromString(`+${number}`)?.nationalNumber ?? number;
  const code = number.slice(0, number.length - national.length);
  // The plus, or the digits dialed for it; a zero before the number, as in +44 (0)20.
  const prefix = `(?:(?:[+]|00|011)${SEPARATOR_PATTERN})?`;
  const forms = [
    `${prefix}${joinDigits(code)}${SEPARATOR_PATTERN}` +
      `(?:0${SEPARATOR_PATTERN})?${joinDigits(national)}`,
    // After another country code it is a different number.
    ...(local ?? []).map(
      (digits) => `(?<![+][0-9]{1,3}${SEPARATOR_PATTERN})[(]?${joinDigits(digits)}`,
    ),
  ];
  return `(?<![0-9])(?:${forms.join('|')})(?![0-9])`;
}

const buildEmailPattern = (email: string): string =>
  `(?<![[:alnum:]._%+-])${email.replace(/[^\p{L}\p{N}@]/gu, String.raw`\$&`)}(?![[:alnum:]-])`;
