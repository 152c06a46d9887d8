// Words with which people end and resume contact, and ask who texts them. Carriers and laws require
// that they are recognized at the beginning of a text, whatever follows.

import { cutText } from '../../platform/storable-text';

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

/** Two words, or two halves of one. */
const OPT_OUT = /^opt[^\p{L}\p{N}]+out(?![\p{L}\p{N}])/u;
const FIRST_WORD = /^[\p{L}\p{N}]+/u;

/** More than the longest word, including characters before it and between its halves. */
const MAX_LENGTH = 200;

/**
 * Reads the keyword at the beginning of a text, in any case and without punctuation and accents.
 * Wide and ornamental letters, which some keyboards send, count as plain ones.
 */
export function parseKeyword(text: string): Keyword | undefined {
  const plain = cutText(text, MAX_LENGTH)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+/u, '');
  if (OPT_OUT.test(plain)) return 'opt_out';
  return KEYWORDS.get(FIRST_WORD.exec(plain)?.[0] ?? '');
}
