import { Splitter } from './records';
import { FileProblem } from './text';

const DELIMITERS = [',', ';', '\t', '|'];
/** Rows that are compared. */
const PREVIEWED = 10;

/** The delimiter of the columns, guessed from the first rows: the one that all have equally. */
export function delimiterOf(sample: string): string {
  const guesses = DELIMITERS.map((delimiter) => {
    const counts = countsOf(sample, delimiter);
    const columns = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const differences = counts.map((count, n) => Math.abs(count - (counts[n - 1] ?? count)));
    return { delimiter, columns, difference: differences.reduce((sum, each) => sum + each, 0) };
  });
  const [best] = guesses
    .filter(({ columns }) => columns > 1.99)
    .sort((a, b) => a.difference - b.difference || b.columns - a.columns);
  return best?.delimiter ?? ',';
}

/** How many columns each of the first rows has. */
function countsOf(sample: string, delimiter: string): number[] {
  const splitter = new Splitter(delimiter);
  const rows = splitter.take(sample).slice(0, PREVIEWED);
  return (rows.length > 0 ? rows : lastRow(splitter)).map(({ cells }) => cells.length);
}

/** The row of a sample that has no line break. */
function lastRow(splitter: Splitter) {
  try {
    return splitter.take('', true);
  } catch (error) {
    if (error instanceof FileProblem) return [];
    throw error;
  }
}
