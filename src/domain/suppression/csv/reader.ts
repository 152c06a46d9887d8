import { detectLayout, readCell, type Layout, type ColumnHints } from './layout';
import { numberReader, reasonFor } from '../../../data/phone/parse-number';
import { cutText } from '../../../platform/storable-text';
import { guessDelimiter } from '../../../platform/csv/delimiter';
import { readRecords, type CsvRecord } from '../../../platform/csv/records';
import { createSorter, type Sorter } from './external-sort';
import { readText } from '../../../platform/csv/text';

export interface ReadOptions {
  /** ISO 3166 code: the country of numbers without a country code. */
  country: string;
  scratch: string;
  columnHints: ColumnHints;
}

export interface RejectedRow {
  line: number;
  caller_id: string;
  reason: string;
}

export interface Reading {
  layout: Layout;
  /** Number of rows without the header; a row with several numbers counts once for each. */
  total: number;
  rejected_count: number;
  numbers: Sorter;
}

const SAMPLE_ROWS = 1000;
const MAX_SAMPLE_CHARS = 4_000_000;
const SHOWN_CHARS = 200;
const MAX_REJECTED_ROWS = 100_000;

/**
 * Reads the layout and the numbers of a file. Calls `reject` for the first 100,000 rows without a
 * valid number. Throws FileProblem.
 */
export async function readNumbers(
  file: AsyncIterable<Buffer>,
  { country, scratch, columnHints }: ReadOptions,
  reject: (row: RejectedRow) => void,
): Promise<Reading> {
  const read = numberReader(country);
  const texts = readText(file);
  const first = await readNextText(texts);
  const delimiter = guessDelimiter(first);
  const reading: Reading = {
    layout: { delimiter, has_header: false, headers: [], column: 0, areaColumn: undefined },
    total: 0,
    rejected_count: 0,
    numbers: createSorter(scratch),
  };
  const take = (record: CsvRecord) => {
    const cell = readCell(record, reading.layout);
    const number = record.misquoted ? undefined : read.several(cell);
    reading.total++;
    if (typeof number === 'number') return reading.numbers.add(number);
    if (number) {
      // Progress is counted in numbers.
      reading.total += number.length - 1;
      return number.forEach((part) => reading.numbers.add(part));
    }
    reading.rejected_count++;
    if (reading.rejected_count <= MAX_REJECTED_ROWS) reject(toRejectedRow(record, cell));
  };
  let [sample, sampled] = [[] as CsvRecord[] | undefined, 0];
  const begin = () => {
    reading.layout = detectLayout(sample!.slice(0, SAMPLE_ROWS), delimiter, columnHints, read);
    for (const record of reading.layout.has_header ? sample!.slice(1) : sample!) take(record);
    sample = undefined;
  };
  try {
    for await (const records of readRecords(concatTexts(first, texts), delimiter)) {
      for (const record of records) {
        if (!sample) take(record);
        else {
          sampled += record.cells.join().length;
          if (sample.push(record) >= SAMPLE_ROWS || sampled > MAX_SAMPLE_CHARS) begin();
        }
      }
    }
    if (sample) begin();
    return reading;
  } catch (error) {
    reading.numbers.close();
    throw error;
  }
}

const toRejectedRow = ({ line, misquoted }: CsvRecord, cell: string): RejectedRow => ({
  line,
  caller_id: cutText(cell, SHOWN_CHARS),
  reason: reasonFor(cell, misquoted),
});

async function readNextText(texts: AsyncGenerator<string>): Promise<string> {
  for (;;) {
    const { value, done } = await texts.next();
    if (done) return '';
    if (value) return value;
  }
}

async function* concatTexts(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** Numbers of a file, ascending, without duplicates. The next batch overwrites them. */
export interface Batch {
  /** The rows that they come from: several rows may have the same number. */
  rowCount: number;
  numbers: Float64Array;
}

/**
 * The numbers of a file in batches of `size` rows, without the first `skip`. They are in ascending
 * order, so that every run has the same batches.
 */
export function* readBatches(
  { numbers }: Reading,
  { skip, size }: { skip: number; size: number },
): Generator<Batch> {
  const batch = new Float64Array(size);
  let filled = 0;
  const done = (): Batch => ({
    rowCount: filled,
    numbers: removeDuplicates(batch.subarray(0, filled)),
  });
  for (const window of numbers.sorted(skip)) {
    for (let at = 0; at < window.length;) {
      const part = window.subarray(at, at + size - filled);
      batch.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < size) continue;
      yield done();
      filled = 0;
    }
  }
  if (filled > 0) yield done();
}

function removeDuplicates(sorted: Float64Array): Float64Array {
  let length = 0;
  for (let i = 0; i < sorted.length; i++)
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[length++] = sorted[i]!;
  return sorted.subarray(0, length);
}
