import Papa from 'papaparse';
import { FileProblem } from './text';

/** A row of a CSV file. */
export interface CsvRecord {
  /** The line of the file that it begins on, from 1. */
  line: number;
  cells: string[];
  /** There is a quote where none is allowed, so that the cells may be wrong. */
  misquoted: boolean;
}

/** A longer row is an unclosed quote or not CSV. It must not fill the memory. Characters. */
const MAX_ROW_LENGTH = 1_000_000;
const DELIMITERS = [',', ';', '\t', '|'];

/** The delimiter of the columns, guessed from the first rows. */
export function delimiterOf(sample: string): string {
  return Papa.parse(sample, {
    preview: 50,
    newline: '\n',
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  }).meta.delimiter;
}

/**
 * Splits pieces of text, whose lines end in "\n", into rows; yields those of one piece at a time.
 * Skips blank lines. Throws FileProblem.
 */
export async function* readRecords(
  texts: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord[]> {
  const splitter = new Splitter(delimiter);
  for await (const text of texts) yield splitter.take(text);
  yield splitter.take('', true);
}

type Parsed = Papa.ParseResult<string[]>;

/** Keeps the start of an incomplete row until the next piece. */
class Splitter {
  private readonly all: Papa.Parser;
  private readonly one: Papa.Parser;
  private rest = '';
  private line = 1;

  constructor(private readonly delimiter: string) {
    this.all = new Papa.Parser({ delimiter, newline: '\n' });
    // In fast mode the library's cursor is one row too far when it stops early.
    this.one = new Papa.Parser({ delimiter, newline: '\n', preview: 1, fastMode: false });
  }

  take(text: string, last = false): CsvRecord[] {
    this.rest += text;
    const parsed = this.all.parse(this.rest, 0, !last) as Parsed;
    const records = parsed.errors.length === 0 ? this.accept(parsed) : this.oneByOne(last);
    if (this.rest.length > MAX_ROW_LENGTH) throw tooLong(this.rest, this.line);
    return records.filter(({ cells }) => cells.length > 1 || cells[0] !== '');
  }

  private accept({ data, meta }: Parsed): CsvRecord[] {
    const quoted = this.rest.includes('"');
    this.rest = this.rest.slice(meta.cursor);
    return data.map((cells) => {
      const { line } = this;
      this.line += 1 + (quoted ? breaksIn(cells) : 0);
      return { line, cells, misquoted: false };
    });
  }

  /**
   * After a misplaced quote the library searches for a closing one, however far away. Here reading
   * continues with the next line instead.
   */
  private oneByOne(last: boolean): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.rest) {
      const parsed = this.one.parse(this.rest, 0, !last) as Parsed;
      if (parsed.errors.some(({ code }) => code === 'InvalidQuotes')) {
        const end = this.rest.indexOf('\n');
        if (end < 0 && !last) break;
        const text = end < 0 ? this.rest : this.rest.slice(0, end);
        records.push({ line: this.line++, cells: text.split(this.delimiter), misquoted: true });
        this.rest = this.rest.slice(text.length + 1);
      } else if (parsed.errors.length > 0)
        throw new FileProblem(`Line ${this.line} opens a quote that is never closed.`);
      else if (parsed.data.length === 0) break;
      else records.push(...this.accept(parsed));
    }
    return records;
  }
}

function breaksIn(cells: readonly string[]): number {
  let breaks = 0;
  for (const cell of cells)
    for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) breaks++;
  return breaks;
}

function tooLong(rest: string, line: number): FileProblem {
  const what = rest.includes('\n') ? 'opens a quote that is not closed' : 'does not end';
  return new FileProblem(
    `Line ${line} ${what} within ${MAX_ROW_LENGTH.toLocaleString('en')} characters.`,
  );
}
