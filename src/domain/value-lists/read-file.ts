import { createReadStream } from 'node:fs';
import { HttpProblem } from '../../platform/errors';
import type { Upload } from '../../api/request/upload';
import { pauses } from '../../data/jobs/pauses';
import { cutText } from '../../platform/storable-text';
import { guessDelimiter } from '../suppression/csv/delimiter';
import { readRecords, type CsvRecord } from '../suppression/csv/records';
import { FileProblem, readText } from '../suppression/csv/text';

const FIELD = 'import_file';
const MAX_BYTES = 50_000_000;
const MAX_ROWS = 1_000_000;
/** Names of columns that contain values, for a file with several columns. */
const USUAL_NAMES = new Set(
  ['value', 'values', 'zip', 'zips', 'zip_code', 'zip code', 'zipcode', 'postal_code', 'zip5'] //
    .concat(['postal code', 'postcode']),
);

/**
 * The values of a CSV file, with their lines: of the column with the requested name, else of the
 * only column, else of the one with a usual name such as zip. A header row is not a value. Throws
 * 422.
 */
export async function readValues(
  { path, bytes }: Upload,
  columnName: string | null | undefined,
): Promise<{ texts: string[]; lines: number[] }> {
  if (bytes > MAX_BYTES) throw invalidFile(`must have at most ${MAX_BYTES} bytes`);
  try {
    return pickValues(await readRows(path), columnName);
  } catch (error) {
    if (error instanceof FileProblem) throw invalidFile(`cannot be read: ${error.message}`);
    throw error;
  }
}

const invalidFile = (message: string): HttpProblem =>
  HttpProblem.field(FIELD, 'invalid_file', message);

async function readRows(path: string): Promise<CsvRecord[]> {
  const texts = readText(createReadStream(path) as AsyncIterable<Buffer>);
  const first = (await texts.next()) as IteratorResult<string, undefined>;
  const rows: CsvRecord[] = [];
  const pause = pauses();
  for await (const part of readRecords(
    concatTexts(first.value ?? '', texts),
    guessDelimiter(first.value ?? ''),
  )) {
    for (const row of part) rows.push(row);
    if (rows.length > MAX_ROWS) throw invalidFile(`must have at most ${MAX_ROWS} rows`);
    await pause();
  }
  return rows;
}

async function* concatTexts(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

function pickValues(rows: readonly CsvRecord[], columnName: string | null | undefined) {
  const header = (rows[0]?.cells ?? []).map((cell) => cell.trim().toLowerCase());
  const { column, has_header } = findColumn(header, columnName?.trim().toLowerCase());
  const misquoted = rows.find((row) => row.misquoted);
  if (misquoted) throw invalidFile(`has a quote in the wrong place in line ${misquoted.line}`);
  const withValues = rows.slice(has_header ? 1 : 0);
  return {
    texts: withValues.map(({ cells }) => unescapedCell(cells[column] ?? '')),
    lines: withValues.map(({ line }) => line),
  };
}

/** The text of a cell of our CSV, in which apostrophes keep a spreadsheet from running it. */
const unescapedCell = (cell: string): string =>
  cell.replace(/(^|[;\t\r\n])'(?=[=+\-@|＝＋－＠\t\r\n])/g, '$1');

function findColumn(
  header: readonly string[],
  columnName: string | undefined,
): { column: number; has_header: boolean } {
  if (columnName) {
    const column = header.indexOf(columnName);
    if (column >= 0) return { column, has_header: true };
    throw HttpProblem.field(
      'column_name',
      'invalid_value',
      `must be a column of the file: ${cutText(header.join(', '), 200)}`,
    );
  }
  const usual = header.flatMap((name, column) => (USUAL_NAMES.has(name) ? [column] : []));
  if (usual.length === 1) return { column: usual[0]!, has_header: true };
  if (header.length === 1) return { column: 0, has_header: false };
  throw HttpProblem.field(
    'column_name',
    'missing_field',
    `must be given, as the file has several columns: ${cutText(header.join(', '), 200)}`,
  );
}
