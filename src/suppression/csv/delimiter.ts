import Papa from 'papaparse';
import { cutText } from '../../storable-text';

/** The work of the library grows with the square of misquoted text, so that it gets little. */
const SAMPLE_CHARS = 4_096;
const DELIMITERS = [',', ';', '\t', '|'];

/** The delimiter of the columns, guessed from the first rows. */
export function delimiterOf(text: string): string {
  return Papa.parse(cutText(text, SAMPLE_CHARS), {
    preview: 50,
    newline: '\n',
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  }).meta.delimiter;
}
