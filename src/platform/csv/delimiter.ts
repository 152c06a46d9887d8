import Papa from 'papaparse';
import { cutText } from '../storable-text';

/** The run time of the library grows with the square of misquoted text. */
const SAMPLE_CHARS = 4_096;
const DELIMITERS = [',', ';', '\t', '|'];

export function guessDelimiter(text: string): string {
  return Papa.parse(cutText(text, SAMPLE_CHARS), {
    preview: 50,
    newline: '\n',
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  }).meta.delimiter;
}
