import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js/max';

/** Reads a telephone number in any spelling: its E.164 digits without the plus, at most 15 and so exact; undefined for what can be none. */
export type NumberReader = (text: string) => number | undefined;

/** What the fast path takes for punctuation between digits. */
const PUNCTUATION = new Set([...' -.()'].map((char) => char.charCodeAt(0)));
const [ZERO, NINE, PLUS] = ['0', '9', '+'].map((char) => char.charCodeAt(0)) as [
  number,
  number,
  number,
];
const NORTH_AMERICA = 10_000_000_000;
const LONGEST = 40;

/** A reader of numbers; those without country code are read as numbers of `country` (two letters). */
export function numberReader(country: string): NumberReader {
  const known = isSupportedCountry(country) ? country : undefined;
  const at_home = known !== undefined && getCountryCallingCode(known) === '1';
  return (raw) => {
    // Spreadsheets put an apostrophe before what they must not read as a formula.
    const text = raw.trim().replace(/^'/, '');
    return northAmerican(text, at_home) ?? anyNumber(text, known);
  };
}

/**
 * A number of North America in one of its usual spellings, exactly as the library reads it (tests/unit/numbers.test.ts holds the two against
 * each other) and fifty times as fast: in files of millions this decides. Undefined for every other text.
 */
function northAmerican(text: string, at_home: boolean): number | undefined {
  if (text.length < 10 || text.length > LONGEST) return undefined;
  const plus = text.charCodeAt(0) === PLUS;
  if (!plus && !at_home) return undefined;
  let [value, digits] = [0, 0];
  for (let i = plus ? 1 : 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ZERO && code <= NINE) {
      value = value * 10 + code - ZERO;
      digits++;
    } else if (!PUNCTUATION.has(code) || (plus && i === 1)) return undefined;
  }
  const national = digits === 11 ? value - NORTH_AMERICA : digits === 10 && !plus ? value : 0;
  // Area code and exchange begin with 2 to 9.
  if (
    national < 2_000_000_000 ||
    national >= NORTH_AMERICA ||
    Math.floor(national / 1_000_000) % 10 < 2
  )
    return undefined;
  return NORTH_AMERICA + national;
}

function anyNumber(text: string, country: CountryCode | undefined): number | undefined {
  if (text.length > 250) return undefined;
  const number = parsePhoneNumberFromString(text, {
    ...(country && { defaultCountry: country }),
    extract: false,
  });
  return number?.isPossible() ? Number(number.number.slice(1)) : undefined;
}
export function reasonFor(cell: string, misquoted = false): string {
  if (misquoted) return 'has a quote where none may stand';
  return cell.trim() === '' ? 'is empty' : 'is not a possible telephone number';
}
