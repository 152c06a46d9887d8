// Spellings of numbers in files, forms and carriers' reports that need a careful look.

/** Spreadsheets write them around text that must stay text. */
const QUOTES = /^["'\u2018\u2019`]{1,3}|["'\u2018\u2019`]{1,3}$/g;
/** Schemes of addresses, and the prefixes of Meta's lead forms and of Twilio's channels. */
const SCHEME =
  /^(?:tel|telephone|phone|mobile|cell|p|callto|sms|smsto|whatsapp|rcs)\s*:\s*(?:\/\/)?\s*/i;
/** A column of floats. */
const FLOAT = /^(\+?\d{3,15})[.,]0{1,2}$/;
/** All digits are there: 3.055550101E9 is exact, 3.06E+09 is not. */
const EXPONENT = /^(\d)\.(\d{6,14})E\+?(\d{1,2})$/i;

/** The text without what surrounds its number: invisible marks, quotes, a scheme, `.0`. */
export function cleanNumberText(raw: string): string {
  const text = raw
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Zs}/gu, ' ')
    .trim()
    .replace(/^=\s*(?=["+\d])/, '')
    .replace(QUOTES, '')
    .trim()
    .replace(SCHEME, '')
    .replace(FLOAT, '$1');
  const [, first, rest, exponent] = EXPONENT.exec(text) ?? [];
  return first && rest && rest.length === Number(exponent) ? first + rest : text;
}

/** Separates numbers, unless an extension follows. */
const SEPARATOR = /[;,|\t\r\n](?! ?e?xt)/i;
/** May also come before an extension, which then is within the number. */
const NO_PART_OF_NUMBER = /[|\t\r\n]/;

/** Digits of a piece that is a number by itself; fewer may be an area code before a slash. */
const [LOCAL_DIGITS, INTERNATIONAL_DIGITS] = [7, 10];

const isWhole = (piece: string): boolean =>
  (piece.match(/\d/g)?.length ?? 0) >= (/^\W*\+/.test(piece) ? INTERNATIONAL_DIGITS : LOCAL_DIGITS);

type Parse = (text: string) => number | undefined;

/**
 * All numbers of a text that may hold several, each once; none if anything in it is no number.
 * `parse` reads one number with its extension.
 */
export function parseNumbers(text: string, parse: Parse): number[] {
  const pieces = splitNumbers(text);
  if (pieces.length <= 1) return parseSlashed(pieces[0] ?? '', parse);
  const numbers = pieces.map((piece) => parseSlashed(piece, parse));
  if (numbers.every(({ length }) => length > 0)) return [...new Set(numbers.flat())];
  return toList(NO_PART_OF_NUMBER.test(text) ? undefined : parse(text));
}

const splitNumbers = (text: string): string[] =>
  text
    .split(SEPARATOR)
    .map((piece) => piece.trim())
    .filter(Boolean);

/** In several countries a slash is between area code and number. */
function parseSlashed(piece: string, parse: Parse): number[] {
  const parts = piece.split('/').map((part) => part.trim());
  if (parts.length === 1) return toList(parse(piece));
  const numbers = parts.map((part) => (isWhole(part) ? parse(part) : undefined));
  const count = numbers.filter((number) => number !== undefined).length;
  if (count <= 1) return toList(parse(piece));
  return count === parts.length ? [...new Set(numbers as number[])] : [];
}

const toList = (number: number | undefined): number[] => (number === undefined ? [] : [number]);

/** True if the text has digits for more than one number. */
export const holdsSeveral = (text: string): boolean =>
  splitNumbers(cleanNumberText(text))
    .flatMap((piece) => piece.split('/'))
    .filter(isWhole).length > 1;
