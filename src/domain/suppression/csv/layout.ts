import type { CsvRecord } from './records';
import type { NumberReader } from '../../../data/phone/parse-number';
import { cutText } from '../../../platform/storable-text';
import { FileProblem } from './text';

export interface Layout {
  delimiter: string;
  has_header: boolean;
  headers: string[];
  column: number;
}

export interface ColumnHints {
  caller_id_column_name: string | null;
  /** The usual column of the list's files. In a file without it, a column is searched for. */
  usual_column_name?: string | null;
  headers: readonly string[];
}

/** A FileProblem with the names of the columns, so that the client can choose one. */
export class ColumnProblem extends FileProblem {
  constructor(
    message: string,
    readonly headers: string[],
  ) {
    super(message);
  }
}

const MAX_COLUMNS = 1000;
const MAX_SHOWN = 20;
/** Names that decide between several columns with numbers. */
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

/** Finds the column with the numbers in the first rows of a file. Throws FileProblem. */
export function detectLayout(
  rows: readonly CsvRecord[],
  delimiter: string,
  hints: ColumnHints,
  read: NumberReader,
): Layout {
  const first = rows[0];
  if (!first) throw new FileProblem('The file is empty.');
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  if (width > MAX_COLUMNS)
    throw new FileProblem(`The file has ${width} columns; at most ${MAX_COLUMNS} are read.`);
  const { headers, has_header } = detectHeaders(first.cells, width, hints, read);
  const data = has_header ? rows.slice(1) : rows;
  return { delimiter, has_header, headers, column: findColumn(headers, data, hints, read) };
}

function detectHeaders(
  first: readonly string[],
  width: number,
  hints: ColumnHints,
  read: NumberReader,
): { headers: string[]; has_header: boolean } {
  const cells = first.map((cell) => cell.trim());
  if (hints.headers.length > 0) {
    const hasHeader = hints.headers.every(
      (name, index) => foldName(name) === foldName(cells[index] ?? ''),
    );
    return { headers: [...hints.headers], has_header: hasHeader };
  }
  const numbered = Array.from({ length: width }, (_, index) => `column_${index + 1}`);
  if (cells.some((cell) => read(cell) !== undefined))
    return { headers: numbered, has_header: false };
  return { headers: cells.map((cell) => cutText(cell, 255)), has_header: true };
}

const foldName = (name: string) => name.trim().toLowerCase();
const formatNames = (names: readonly string[]) =>
  names
    .slice(0, MAX_SHOWN)
    .map((name) => name || '(no name)')
    .join(', ') + (names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '');

function findColumn(
  headers: string[],
  data: readonly CsvRecord[],
  hints: ColumnHints,
  read: NumberReader,
): number {
  const { caller_id_column_name: name, usual_column_name: usualName } = hints;
  if (name !== null) return findColumnByName(headers, name);
  const asUsual = usualName
    ? filterColumns(headers, (h) => foldName(h) === foldName(usualName))
    : [];
  if (asUsual.length === 1) return asUsual[0]!;
  const columns = filterColumns(headers, (_, column) => looksLikeNumbers(data, column, read));
  if (columns.length === 1 || data.length === 0) return columns[0] ?? 0;
  const usual = columns.filter((column) =>
    USUAL_NAMES.has(foldName(headers[column]!).replace(/[\s-]+/g, '_')),
  );
  if (usual.length === 1) return usual[0]!;
  const names = columns.map((column) => headers[column]!);
  const finding =
    columns.length === 0
      ? `None of the columns looks like telephone numbers: ${formatNames(headers)}.`
      : `Several columns look like telephone numbers: ${formatNames(names)}.`;
  throw new ColumnProblem(`${finding} Name the right one in caller_id_column_name.`, headers);
}

const filterColumns = (
  headers: readonly string[],
  matches: (header: string, column: number) => boolean,
): number[] => headers.flatMap((header, column) => (matches(header, column) ? column : []));

/** By its exact name, or else without regard to case and surrounding spaces. */
function findColumnByName(headers: string[], name: string): number {
  const exact = filterColumns(headers, (header) => header === name);
  const columns =
    exact.length > 0
      ? exact
      : filterColumns(headers, (header) => foldName(header) === foldName(name));
  if (columns.length === 1) return columns[0]!;
  const problem =
    columns.length > 1
      ? `${columns.length} columns are called ${name}. Give them different names in headers, ` +
        'and name the right one in caller_id_column_name.'
      : `No column is called ${name}. The columns are ${formatNames(headers)}. ` +
        'Name one of them in caller_id_column_name.';
  throw new ColumnProblem(problem, headers);
}

/** True if at least half of the cells that are not empty are telephone numbers. */
function looksLikeNumbers(data: readonly CsvRecord[], column: number, read: NumberReader): boolean {
  const cells = data.map(({ cells }) => cells[column]?.trim()).filter(Boolean);
  const numbers = cells.filter((cell) => read(cell!) !== undefined);
  return numbers.length > 0 && numbers.length >= cells.length / 2;
}
