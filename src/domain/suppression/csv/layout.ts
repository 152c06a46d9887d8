import type { CsvRecord } from '../../../platform/csv/records';
import { cleanNumberText } from '../../../data/phone/number-text';
import { AREA_AND_NUMBER, type NumberReader } from '../../../data/phone/parse-number';
import { cutText } from '../../../platform/storable-text';
import { FileProblem } from '../../../platform/csv/text';

export interface Layout {
  delimiter: string;
  has_header: boolean;
  headers: string[];
  column: number;
  /** The column with the area codes of numbers that have them in a column of their own. */
  areaColumn: number | undefined;
}

/** The name of the column with the numbers, or the names of both, as a client may send them. */
export const formatColumn = ({ headers, column, areaColumn }: Layout): string =>
  [...(areaColumn === undefined ? [] : [areaColumn]), column]
    .flatMap((index) => headers[index] ?? [])
    .join(',');

const AREA_CODE = /^\d{3}$/;
const LOCAL_DIGITS = /\d\D*(?:\d\D*){6}/;

/**
 * The text with the number of a row. Without quotes, the second number of a cell may be in a cell
 * that has no header.
 */
export function readCell({ cells }: CsvRecord, layout: Layout): string {
  const { column, areaColumn, headers, delimiter } = layout;
  const cell = cells[column] ?? '';
  if (areaColumn !== undefined) {
    const area = cells[areaColumn] ?? '';
    return AREA_CODE.test(area) ? area + cell : cleanNumberText(area) + cleanNumberText(cell);
  }
  const surplus = cells.length - headers.length;
  if (surplus <= 0) return cell;
  const next = cells.slice(column + 1, column + 1 + surplus);
  return next.some((text) => LOCAL_DIGITS.test(text)) ? [cell, ...next].join(delimiter) : cell;
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
  const pair = findAreaColumns(headers, data, hints, read);
  if (pair) return { delimiter, has_header, headers, ...pair };
  const column = findColumn(headers, data, hints, read);
  return { delimiter, has_header, headers, column, areaColumn: undefined };
}

/** Area codes and local numbers in two columns, as the FTC has them: named, or side by side. */
function findAreaColumns(
  headers: readonly string[],
  data: readonly CsvRecord[],
  { caller_id_column_name: name, usual_column_name: usualName }: ColumnHints,
  read: NumberReader,
): Pick<Layout, 'column' | 'areaColumn'> | undefined {
  const columnName = name ?? usualName;
  const named = columnName ? findNamedPair(headers, columnName) : undefined;
  if (named) return named;
  const index = name === null ? undefined : headers.map(foldName).indexOf(foldName(name));
  const columns = headers.flatMap((_, column) =>
    (index === undefined || column === index || column + 1 === index) &&
    looksLike(data, ({ cells }) => isPair(cells, column, read))
      ? column
      : [],
  );
  if (columns.length !== 1) return undefined;
  const pair = { areaColumn: columns[0]!, column: columns[0]! + 1 };
  const hasNumbers = headers.some((_, column) => looksLikeNumbers(data, column, read));
  return index === undefined && hasNumbers ? undefined : pair;
}

function findNamedPair(
  headers: readonly string[],
  name: string,
): Pick<Layout, 'column' | 'areaColumn'> | undefined {
  const names = headers.map(foldName);
  const parts = name.split(/[,;+]/).map(foldName);
  const [area, local] = parts.map((part) => names.indexOf(part));
  const isPairName = parts.length === 2 && !names.includes(foldName(name));
  return isPairName && area! >= 0 && local! >= 0
    ? { areaColumn: area!, column: local! }
    : undefined;
}

/** The cell and the next one are area code and local number of North America. */
function isPair(cells: readonly string[], column: number, read: NumberReader): boolean {
  const pair = [cells[column], cells[column + 1]].map((cell) => cleanNumberText(cell ?? ''));
  return AREA_AND_NUMBER.test(pair.join(',')) && Math.floor(read(pair.join(''))! / 1e10) === 1;
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
  if (cells.some((cell, n) => read.several(cell) !== undefined || isPair(cells, n, read)))
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
  const filled = data.filter(({ cells }) => cells[column]?.trim());
  return looksLike(filled, ({ cells }) => read.several(cells[column]!) !== undefined);
}

function looksLike(rows: readonly CsvRecord[], matches: (row: CsvRecord) => boolean): boolean {
  const count = rows.filter(matches).length;
  return count > 0 && count >= rows.length / 2;
}
