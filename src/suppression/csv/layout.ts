import type { CsvRecord } from './records';
import type { NumberReader } from '../../phone/parse-number';
import { FileProblem } from './text';

/** Where the numbers stand in a CSV file. */
export interface Layout {
  delimiter: string;
  /** Whether the first row names the columns and holds no number. */
  has_header: boolean;
  headers: string[];
  column: number;
}

/** What the sender says about the file. */
export interface Wanted {
  caller_id_column_name: string | null;
  /** The column that the list's files usually have; where a file lacks it, one is looked for. */
  usual_column_name?: string | null;
  headers: readonly string[];
}

/** FileProblem that also knows what the columns are called, so that they can be shown and one be chosen. */
export class ColumnProblem extends FileProblem {
  constructor(
    message: string,
    readonly headers: string[],
  ) {
    super(message);
  }
}

const MOST_COLUMNS = 1000;
const SHOWN = 20;
/** Names that decide between several columns of numbers. */
const USUAL_NAMES = new Set([
  'caller_id',
  'callerid',
  'caller_number',
  'phone',
  'phone_number',
  'phonenumber',
  'telephone',
  'mobile',
  'cell',
  'number',
]);

/** Finds the column of the numbers from the first rows of a file. Throws FileProblem. */
export function layoutOf(
  rows: readonly CsvRecord[],
  delimiter: string,
  wanted: Wanted,
  read: NumberReader,
): Layout {
  const first = rows[0];
  if (!first) throw new FileProblem('The file is empty.');
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  if (width > MOST_COLUMNS)
    throw new FileProblem(`The file has ${width} columns; at most ${MOST_COLUMNS} are read.`);
  const { headers, has_header } = headersOf(first.cells, width, wanted, read);
  const data = has_header ? rows.slice(1) : rows;
  return { delimiter, has_header, headers, column: columnOf(headers, data, wanted, read) };
}

function headersOf(
  first: readonly string[],
  width: number,
  wanted: Wanted,
  read: NumberReader,
): { headers: string[]; has_header: boolean } {
  const cells = first.map((cell) => cell.trim());
  if (wanted.headers.length > 0) {
    const has_header = wanted.headers.every(
      (name, index) => fold(name) === fold(cells[index] ?? ''),
    );
    return { headers: [...wanted.headers], has_header };
  }
  const numbered = Array.from({ length: width }, (_, index) => `column_${index + 1}`);
  if (cells.some((cell) => read(cell) !== undefined))
    return { headers: numbered, has_header: false };
  return { headers: cells.map((cell) => cell.slice(0, 255)), has_header: true };
}

const fold = (name: string) => name.trim().toLowerCase();
const list = (names: readonly string[]) =>
  names
    .slice(0, SHOWN)
    .map((name) => name || '(no name)')
    .join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '');

function columnOf(
  headers: string[],
  data: readonly CsvRecord[],
  wanted: Wanted,
  read: NumberReader,
): number {
  const { caller_id_column_name: name, usual_column_name: usual_name } = wanted;
  if (name !== null) return named(headers, name);
  const as_usual = usual_name
    ? headers.flatMap((header, column) => (fold(header) === fold(usual_name) ? column : []))
    : [];
  if (as_usual.length === 1) return as_usual[0]!;
  const columns = headers
    .map((_, column) => column)
    .filter((column) => looksLikeNumbers(data, column, read));
  if (columns.length === 1 || data.length === 0) return columns[0] ?? 0;
  const usual = columns.filter((column) =>
    USUAL_NAMES.has(fold(headers[column]!).replace(/[\s-]+/g, '_')),
  );
  if (usual.length === 1) return usual[0]!;
  const finding =
    columns.length === 0
      ? `None of the columns looks like telephone numbers: ${list(headers)}.`
      : `Several columns look like telephone numbers: ${list(columns.map((column) => headers[column]!))}.`;
  throw new ColumnProblem(`${finding} Name the right one in caller_id_column_name.`, headers);
}

function named(headers: string[], wanted: string): number {
  for (const same of [
    (name: string) => name === wanted,
    (name: string) => fold(name) === fold(wanted),
  ]) {
    const columns = headers.map((_, column) => column).filter((column) => same(headers[column]!));
    if (columns.length === 1) return columns[0]!;
    if (columns.length > 1) {
      throw new ColumnProblem(
        `${columns.length} columns are called ${wanted}. Name the columns apart in headers, and the right one in caller_id_column_name.`,
        headers,
      );
    }
  }
  throw new ColumnProblem(
    `No column is called ${wanted}. The columns are ${list(headers)}. Name one of them in caller_id_column_name.`,
    headers,
  );
}

function looksLikeNumbers(data: readonly CsvRecord[], column: number, read: NumberReader): boolean {
  const cells = data.map(({ cells }) => cells[column]?.trim()).filter(Boolean);
  const numbers = cells.filter((cell) => read(cell!) !== undefined);
  return numbers.length > 0 && numbers.length >= cells.length / 2;
}
