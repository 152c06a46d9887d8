// Words with which people end and resume contact, and ask who texts them. Carriers and laws require
// that an end is recognized however it is written; consent must be beyond doubt.

export type Keyword = 'opt_out' | 'opt_in' | 'help';

const WORDS: Record<Keyword, readonly string[]> = {
  opt_out: [
    'stop',
    'stopall',
    'unsubscribe',
    'cancel',
    'end',
    'quit',
    'revoke',
    'optout',
    'arret',
    'parar',
  ],
  opt_in: ['start', 'unstop', 'yes'],
  help: ['help', 'info'],
};
const KEYWORDS = new Map(
  Object.entries(WORDS).flatMap(([keyword, words]) =>
    words.map((word): [string, Keyword] => [word, keyword as Keyword]),
  ),
);

/** Ends of lines, also those of other alphabets and of printers. */
const LINE_ENDS = /[\n\r\v\f\x85\u2028\u2029]+/;
/** Characters without a shape, such as the zero bytes of UTF-16 that was read as another code. */
const INVISIBLE = /[\0\p{Cf}\u{fffd}]+/gu;

/**
 * Reads the keyword of a text, in any case and without punctuation and accents. Wide and ornamental
 * letters, which some keyboards send, count as plain ones. An opt-out is the first word, or alone
 * on a line; HELP is the first word; an opt-in is the whole text.
 */
export function parseKeyword(text: string): Keyword | undefined {
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  // An invisible character stands in a word, or between two.
  const readings = ['', ' '].map((gap) => readWords(folded.replace(INVISIBLE, gap)));
  if (readings.some(isOptOut)) return 'opt_out';
  return readings.map(readOther).find((keyword) => keyword !== undefined);
}

/** The words of each line that has some. */
const readWords = (text: string): string[][] =>
  text
    .split(LINE_ENDS)
    .map((line) => line.match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((words) => words.length > 0);

function isOptOut(lines: readonly string[][]): boolean {
  const [first, second] = lines.flat();
  return (
    isOptOutPhrase([first ?? '']) ||
    isOptOutPhrase([first ?? '', second ?? '']) ||
    lines.some(isOptOutPhrase)
  );
}

/** OPT OUT is two words, or two halves of one. */
const isOptOutPhrase = (words: readonly string[]): boolean =>
  words.join(' ') === 'opt out' || (words.length === 1 && KEYWORDS.get(words[0]!) === 'opt_out');

function readOther(lines: readonly string[][]): Keyword | undefined {
  const words = lines.flat();
  const keyword = KEYWORDS.get(words[0] ?? '');
  return keyword === 'opt_in' && words.length > 1 ? undefined : keyword;
}

const CARRIER_WORDS: Record<string, Keyword> = { STOP: 'opt_out', START: 'opt_in', HELP: 'help' };

/** The keyword that a carrier has recognized and answered itself. */
export const toCarrierKeyword = (word: string | undefined): Keyword | undefined =>
  CARRIER_WORDS[word?.trim().toUpperCase() ?? ''];
