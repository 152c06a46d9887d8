import { layoutOf, type Layout, type Wanted } from './layout';
import { numberReader } from './numbers';
import { delimiterOf, readRecords, type CsvRecord } from './records';
import { readText } from './text';

export interface Source {
  file: string;
  /** Two letters: numbers without country code are of this country. */
  country: string;
}

/** What is known of a file once all of it was read: nothing of a file is applied that cannot be read to its end. */
export interface Inspection {
  layout: Layout;
  /** Rows that hold, or should hold, a number. */
  total: number;
}

export interface RejectedRow {
  line: number;
  caller_id: string;
  reason: string;
}

/** A run of consecutive rows. */
export interface Batch {
  /** Rows of it whose number was taken; a number may be in several. */
  taken: number;
  /** The numbers, ascending, each once. */
  numbers: Float64Array;
  rejected: RejectedRow[];
}

const SAMPLE_ROWS = 1000;
const SAMPLE_CHARS = 65_536;
const SHOWN_CHARS = 200;

/** Reads a file to its end: how it is laid out, and how many rows it has. Throws FileProblem. */
export async function inspect({ file, country }: Source, wanted: Wanted): Promise<Inspection> {
  const texts = readText(file);
  const first = await nextText(texts);
  const delimiter = delimiterOf(first.slice(0, SAMPLE_CHARS));
  const sample: CsvRecord[] = [];
  let rows = 0;
  for await (const records of readRecords(chained(first, texts), delimiter)) {
    if (sample.length < SAMPLE_ROWS) sample.push(...records.slice(0, SAMPLE_ROWS - sample.length));
    rows += records.length;
  }
  const layout = layoutOf(sample, delimiter, wanted, numberReader(country));
  return { layout, total: rows - (layout.has_header ? 1 : 0) };
}

async function nextText(texts: AsyncGenerator<string>): Promise<string> {
  for (;;) {
    const { value, done } = await texts.next();
    if (done) return '';
    if (value) return value;
  }
}

async function* chained(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

export interface BatchOptions extends Source {
  layout: Layout;
  /** Rows that are done already. */
  skip: number;
  /** Rows of a batch. */
  size: number;
}

/** The numbers of a file in the order of its rows, batch by batch. */
export async function* readBatches({ file, country, layout, skip, size }: BatchOptions): AsyncGenerator<Batch> {
  const read = numberReader(country);
  let to_skip = skip + (layout.has_header ? 1 : 0);
  let batch = collector(size);
  for await (const records of readRecords(readText(file), layout.delimiter)) {
    const from = Math.min(to_skip, records.length);
    to_skip -= from;
    for (let i = from; i < records.length; i++) {
      const record = records[i]!;
      const cell = record.cells[layout.column] ?? '';
      const number = record.misquoted ? undefined : read(cell);
      if (number === undefined) batch.reject(record, cell);
      else batch.take(number);
      if (batch.full()) {
        yield batch.done();
        batch = collector(size);
      }
    }
  }
  if (!batch.empty()) yield batch.done();
}

function collector(size: number) {
  const numbers = new Float64Array(size);
  const rejected: RejectedRow[] = [];
  let taken = 0;
  return {
    take: (number: number) => void (numbers[taken++] = number),
    reject: ({ line, misquoted }: CsvRecord, cell: string) => void rejected.push({ line, caller_id: shown(cell), reason: reasonFor(cell, misquoted) }),
    full: () => taken + rejected.length === size,
    empty: () => taken + rejected.length === 0,
    done: (): Batch => ({ taken, rejected, numbers: distinct(numbers.subarray(0, taken).sort()) }),
  };
}

function distinct(sorted: Float64Array): Float64Array {
  let kept = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[kept++] = sorted[i]!;
  return sorted.subarray(0, kept);
}

/** What the database can hold of a cell. */
const shown = (cell: string) => cell.slice(0, SHOWN_CHARS).replaceAll('\0', '').toWellFormed();

export function reasonFor(cell: string, misquoted = false): string {
  if (misquoted) return 'has a quote where none may stand';
  return cell.trim() === '' ? 'is empty' : 'is not a possible telephone number';
}
