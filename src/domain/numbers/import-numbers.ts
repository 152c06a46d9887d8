import { ownNumberFacts } from '../../platform/carriers/number-facts';
import type { CsvRecord } from '../../platform/csv/records';
import { invalidFile, readRows, unescapedCell } from '../../platform/csv/read-rows';
import type { Schemas } from '../../platform/contract/contract';
import { HttpProblem } from '../../platform/errors';
import { cutText, isLonger } from '../../platform/storable-text';
import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { pauses } from '../../data/jobs/pauses';
import { loadNumberReader, requirePossible } from '../../data/phone/caller-number';
import { resolveReferences, type Table } from '../../data/records';
import type { Upload } from '../../api/request/upload';
import { addNumber, type NewNumber } from './add-number';

/** Each number holds an advisory lock until the commit, and the table of locks is limited. */
const MAX_NUMBERS = 1_000;
const MAX_TEXT = 255;

/** The columns of a file, under the names that exports of carriers and of this service have. */
const COLUMNS = {
  number: ['number', 'phone_number', 'phonenumber', 'phone', 'did'],
  name: ['name', 'friendly_name', 'friendlyname'],
  external_record_id: ['external_record_id'],
  offer_id: ['offer_id'],
  traffic_source_id: ['traffic_source_id'],
  buyer_id: ['buyer_id'],
} as const;
type Column = keyof typeof COLUMNS;

/** In the order in which they are locked. */
const REFERENCES = {
  offer_id: 'offers',
  buyer_id: 'buyers',
  traffic_source_id: 'traffic_sources',
} as const satisfies Partial<Record<Column, Table>>;
type ReferenceColumn = keyof typeof REFERENCES;
const REFERENCE_COLUMNS = Object.keys(REFERENCES) as ReferenceColumn[];

interface Row extends Partial<Record<Column, string>> {
  line: number;
  number: string;
}

type Imported = Pick<Schemas['PhoneNumberImportReply'], 'added' | 'rejected' | 'ignored_columns'>;

interface NumberRows {
  rows: Row[];
  ignored_columns: string[];
}

/** The rows of a request. Throws 422 for none, and for a file without a column of numbers. */
export async function readNumberRows(
  { numbers }: Schemas['PhoneNumberImport'],
  upload: Upload | undefined,
): Promise<NumberRows> {
  if (upload && numbers)
    throw HttpProblem.field('numbers', 'conflicting_fields', 'must not come with import_file');
  if (upload) return toRows(await readRows(upload, { max_rows: MAX_NUMBERS + 1, pause: pauses() }));
  if (!numbers)
    throw HttpProblem.field(
      'numbers',
      'missing_field',
      'must be given, or a CSV file in import_file',
    );
  const rows = numbers.map((number, index) => ({ line: index + 1, number }));
  return { rows, ignored_columns: [] };
}

/**
 * Enters numbers that the company has at the carrier already, within a transaction. A row that
 * cannot be entered is rejected by its line; the others are entered.
 */
export async function importNumbers(
  tx: Db,
  { rows, ignored_columns }: NumberRows,
  { carrier, now }: { carrier: NewNumber['carrier']; now: Date },
): Promise<Imported> {
  const read = await loadNumberReader(tx);
  const ids = await resolveNamed(tx, rows);
  const rejected: Imported['rejected'] = [];
  for (const row of rows)
    try {
      const digits = requirePossible(read(row.number), row.number, 'number');
      const columns = toColumns(row, ids);
      const facts = { ...ownNumberFacts(`+${digits}`), carrier, carrier_number_id: null };
      await addNumber(tx, { ...facts, ...columns }, now, 'number');
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      rejected.push({ line: row.line, number: row.number, reason: error.detail });
    }
  const added = rows.length - rejected.length;
  await moveCount(tx, 'numbers', added);
  return { added, rejected, ignored_columns };
}

function toRows(records: readonly CsvRecord[]): NumberRows {
  const headers = (records[0]?.cells ?? []).map((cell) => cell.trim());
  const names = headers.map((header) => header.toLowerCase().replace(/[ .-]+/g, '_'));
  const entries = Object.entries(COLUMNS) as [Column, readonly string[]][];
  const columns = names.map(
    (name) => entries.find(([, spellings]) => spellings.includes(name))?.[0],
  );
  const hasHeader = columns.includes('number');
  if (!hasHeader && names.length > 1)
    throw invalidFile(
      `must have a column number; it has ${cutText(headers.join(', '), 200) || 'none'}`,
    );
  const read = hasHeader ? columns : (['number'] as const);
  const rows = records.slice(hasHeader ? 1 : 0).map(({ line, cells }) => {
    const texts = read.map((_, index) => unescapedCell(cells[index] ?? '').trim());
    const pairs = read.flatMap((name, index) =>
      name && texts[index] ? [[name, cutText(texts[index], MAX_TEXT + 1)]] : [],
    );
    return { line, number: '', ...(Object.fromEntries(pairs) as Partial<Row>) };
  });
  return {
    rows,
    ignored_columns: hasHeader ? headers.filter((_, index) => !columns[index]) : [],
  };
}

type NamedIds = Record<ReferenceColumn, ReadonlyMap<string, bigint | HttpProblem>>;

/** Locks the records that the rows name, and returns their ids, or why there is none. */
async function resolveNamed(tx: Db, rows: readonly Row[]): Promise<NamedIds> {
  const ids = {} as NamedIds;
  for (const field of REFERENCE_COLUMNS) {
    const references = new Set(rows.flatMap((row) => row[field] ?? []));
    const resolved = new Map<string, bigint | HttpProblem>();
    for (const reference of [...references].toSorted()) {
      const [id] = await resolveReferences(tx, REFERENCES[field], [reference], { field }).catch(
        (error: unknown) => {
          if (!(error instanceof HttpProblem)) throw error;
          return [error];
        },
      );
      resolved.set(reference, id!);
    }
    ids[field] = resolved;
  }
  return ids;
}

/** Throws 422 for what a row cannot have. */
function toColumns(row: Row, ids: NamedIds) {
  for (const field of ['name', 'external_record_id'] as const)
    if (isLonger(row[field] ?? '', MAX_TEXT))
      throw HttpProblem.field(field, 'invalid_value', `must have at most ${MAX_TEXT} characters`);
  const references: Partial<Record<ReferenceColumn, bigint>> = {};
  for (const field of REFERENCE_COLUMNS) {
    const id = row[field] === undefined ? undefined : ids[field].get(row[field]);
    if (id instanceof HttpProblem) throw id;
    if (id !== undefined) references[field] = id;
  }
  const { name, external_record_id } = row;
  return {
    ...{ name, external_record_id },
    ...references,
    // A number that names an offer too belongs to the offer.
    ...(references.buyer_id && !references.offer_id && { forward_type: 'buyer_id' as const }),
  };
}
