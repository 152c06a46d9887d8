import { HttpProblem } from '../../platform/errors';
import type { Upload } from '../../api/request/upload';
import { pauses } from '../../data/jobs/pauses';
import type { CsvRecord } from '../../platform/csv/records';
import { readRows, unescapedCell } from '../../platform/csv/read-rows';
import { cutText } from '../../platform/storable-text';

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
export const readValues = async (
  upload: Upload,
  columnName: string | null | undefined,
): Promise<{ texts: string[]; lines: number[] }> =>
  pickValues(await readRows(upload, { max_rows: MAX_ROWS, pause: pauses() }), columnName);

function pickValues(rows: readonly CsvRecord[], columnName: string | null | undefined) {
  const header = (rows[0]?.cells ?? []).map((cell) => cell.trim().toLowerCase());
  const { column, has_header } = findColumn(header, columnName?.trim().toLowerCase());
  const withValues = rows.slice(has_header ? 1 : 0);
  return {
    texts: withValues.map(({ cells }) => unescapedCell(cells[column] ?? '')),
    lines: withValues.map(({ line }) => line),
  };
}

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
