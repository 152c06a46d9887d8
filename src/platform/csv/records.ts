import { FileProblem } from './text';

export interface CsvRecord {
  /** The line of the file on which it begins, from 1. */
  line: number;
  cells: string[];
  /** A quote is at a position where none is allowed, so that the cells may be wrong. */
  misquoted: boolean;
}

/** A longer row is an unclosed quote or not CSV. It must not fill the memory. Characters. */
const MAX_ROW_LENGTH = 1_000_000;
/** Shorter pieces of text are joined first: each is appended to the previous row. Characters. */
const MIN_PIECE_LENGTH = 16_384;

/**
 * Splits pieces of text, whose lines end in "\n", into rows; yields the rows of one piece at a
 * time. Skips blank lines. Throws FileProblem.
 */
export async function* readRecords(
  texts: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord[]> {
  const splitter = new Splitter(delimiter);
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < MIN_PIECE_LENGTH) continue;
    yield splitter.take(piece);
    piece = '';
  }
  yield splitter.take(piece, true);
}

type State = 'cell' | 'plain' | 'quoted' | 'closed' | 'misquoted';

const QUOTE = 34;
const NEWLINE = 10;
/** How often a character may be scanned on average, once the first rows have been read. */
const MAX_SCAN_FACTOR = 4;

/**
 * Reads rows, and keeps the start of an incomplete one until the next piece. A quoted cell may have
 * several lines. After a misplaced quote, reading continues with the line after the first line of
 * the row, so that lines can be scanned again: as often as `MAX_SCAN_FACTOR` allows. Beyond that a
 * quoted cell ends with its line, so that the scan stays linear in the length of the file.
 */
export class Splitter {
  charsScanned = 0;
  /** Begins at the incomplete row. */
  private text = '';
  /** Start of the row, and the next character to scan. */
  private row = 0;
  private position = 0;
  private state: State = 'cell';
  private cells: string[] = [];
  private cell = 0;
  /** The cell contains quotes that are written twice, and the position at which it was closed. */
  private hasDoubledQuotes = false;
  private closed = 0;
  /** The first line break within the quotes of the row, and how many there are. */
  private first_break = -1;
  private breaks = 0;
  private next_quote = -1;
  private line = 1;
  /** Characters of the rows that have been read. */
  private charsRead = 0;
  private readonly delimiter_code: number;

  constructor(private readonly delimiter: string) {
    this.delimiter_code = delimiter.charCodeAt(0);
  }

  take(text: string, last = false): CsvRecord[] {
    this.text += text;
    this.next_quote = -1;
    const records: CsvRecord[] = [];
    for (let record = this.next(last); record; record = this.next(last))
      if (record.cells.length > 1 || record.cells[0] !== '') records.push(record);
    this.drop();
    if (this.text.length > MAX_ROW_LENGTH) throw buildTooLongProblem(this.text, this.line);
    return records;
  }

  private next(last: boolean): CsvRecord | undefined {
    if (this.row === this.text.length) return undefined;
    return (this.position === this.row ? this.unquotedLine() : undefined) ?? this.scan(last);
  }

  /** The row, if its line contains no quote: found without scanning each character. */
  private unquotedLine(): CsvRecord | undefined {
    const { text, row } = this;
    const end = text.indexOf('\n', row);
    this.charsScanned += (end < 0 ? text.length : end + 1) - row;
    if (end < 0) return undefined;
    if (this.next_quote < row) {
      const quote = text.indexOf('"', row);
      this.next_quote = quote < 0 ? Infinity : quote;
      this.charsScanned += Math.min(this.next_quote, text.length) - row;
    }
    if (this.next_quote < end) return undefined;
    return this.finish(text.slice(row, end).split(this.delimiter), end + 1);
  }

  private scan(last: boolean): CsvRecord | undefined {
    const from = this.position;
    const outcome = this.state === 'misquoted' ? this.state : this.walk(last);
    this.charsScanned += this.position - from;
    if (outcome === 'row') return this.finish(this.cells, this.position);
    if (outcome === 'misquoted') return this.misquoted(last);
    if (!last) return undefined;
    if (this.state === 'quoted')
      throw new FileProblem(`Line ${this.line} opens a quote that is never closed.`);
    this.endCell();
    return this.finish(this.cells, this.position);
  }

  /** Scans characters until a row or the text ends. */
  private walk(last: boolean): 'row' | 'misquoted' | 'end of text' {
    const { text } = this;
    for (; this.position < text.length; this.position++) {
      const code = text.charCodeAt(this.position);
      if (this.state === 'quoted') {
        if (code === NEWLINE && !this.mayContinue()) return 'misquoted';
        if (code === QUOTE && !this.closeQuote(last)) return 'end of text';
      } else if (code === this.delimiter_code) this.endCell();
      else if (code === NEWLINE) {
        this.endCell();
        this.position++;
        return 'row';
      } else if (this.state === 'cell') this.beginCell(code);
      else if (this.state === 'closed' && text[this.position]!.trim() !== '') return 'misquoted';
    }
    return 'end of text';
  }

  private beginCell(code: number): void {
    this.state = code === QUOTE ? 'quoted' : 'plain';
    this.hasDoubledQuotes = false;
    this.cell = code === QUOTE ? this.position + 1 : this.position;
  }

  /** At a quote in a quoted cell: false while it is not known whether another one follows. */
  private closeQuote(last: boolean): boolean {
    if (this.position + 1 === this.text.length && !last) return false;
    if (this.text.charCodeAt(this.position + 1) === QUOTE) {
      this.hasDoubledQuotes = true;
      this.position++;
    } else {
      this.state = 'closed';
      this.closed = this.position;
    }
    return true;
  }

  private mayContinue(): boolean {
    const scanned = this.charsScanned + this.position - this.row;
    if (scanned > MAX_SCAN_FACTOR * (this.charsRead + MAX_ROW_LENGTH)) return false;
    if (this.breaks++ === 0) this.first_break = this.position;
    return true;
  }

  private endCell(): void {
    const { state, text, cell } = this;
    if (state === 'closed') {
      const content = text.slice(cell, this.closed);
      this.cells.push(this.hasDoubledQuotes ? content.replaceAll('""', '"') : content);
    } else this.cells.push(state === 'plain' ? text.slice(cell, this.position) : '');
    this.state = 'cell';
  }

  /** The first line of the row, split at every delimiter. */
  private misquoted(last: boolean): CsvRecord | undefined {
    const { text, row, position, first_break } = this;
    const lineBreak = first_break < 0 ? text.indexOf('\n', position) : first_break;
    if (first_break < 0) this.charsScanned += (lineBreak < 0 ? text.length : lineBreak) - position;
    if (lineBreak < 0 && !last) {
      this.state = 'misquoted';
      this.position = text.length;
      return undefined;
    }
    const end = lineBreak < 0 ? text.length : lineBreak;
    this.breaks = 0;
    return { ...this.finish(text.slice(row, end).split(this.delimiter), end + 1), misquoted: true };
  }

  /** Ends the row; the next one begins at `next`. */
  private finish(cells: string[], next: number): CsvRecord {
    const { line } = this;
    this.line += 1 + this.breaks;
    this.charsRead += next - this.row;
    this.row = this.position = Math.min(next, this.text.length);
    this.state = 'cell';
    this.cells = [];
    this.first_break = -1;
    this.breaks = 0;
    return { line, cells, misquoted: false };
  }

  private drop(): void {
    const { row } = this;
    this.text = this.text.slice(row);
    this.position -= row;
    this.cell -= row;
    this.closed -= row;
    if (this.first_break >= 0) this.first_break -= row;
    this.row = 0;
  }
}

function buildTooLongProblem(rest: string, line: number): FileProblem {
  const what = rest.includes('\n') ? 'opens a quote that is not closed' : 'does not end';
  return new FileProblem(
    `Line ${line} ${what} within ${MAX_ROW_LENGTH.toLocaleString('en')} characters.`,
  );
}
