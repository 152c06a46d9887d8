import { HttpProblem } from '../../platform/errors';
import { Faults } from '../../api/request/faults';
import { requireWellFormed, storableFields } from '../../api/request/well-formed';
import { createNote, type Context, type Note } from './context';
import { MAX_ID, readId } from './ids';
import { isObject, quote } from './page';
import { RESUME_HINT, type Page, type PageOptions, type SourceRecord } from './reader';
import { recordColumns } from './record-columns';

// Checks records before they are moved: each becomes an object with its own id, of storable text,
// and not nested deeper than requests may be. The report lists changes and refusals.

/** More than any account sets up: each record of a list is created here one by one. */
export const MAX_RECORDS = 100_000;

export type MovableRecord = SourceRecord & { id: number };

export interface RecordPage extends Omit<Page, 'items' | 'short'> {
  items: MovableRecord[];
  /** Number of other records of the page; the report explains why they are not moved. */
  refused: number;
}

/** The pages of a resource. Throws NotOffered if the other service has no such list. */
export async function* readRecords(
  resource: string,
  context: Pick<Context, 'source' | 'report'>,
  options?: PageOptions,
): AsyncGenerator<RecordPage> {
  for await (const page of context.source.pages(resource, resource, options)) {
    const { items, next, address } = page;
    const ids = new Set<number>();
    const movable = items.flatMap((item, index) => {
      const origin = `record ${index + 1} of ${address}`;
      return checkRecord(requireRecord(item, index, page), { resource, origin, ids }, context);
    });
    yield { items: movable, refused: items.length - movable.length, next, address };
    noteShortage(resource, page, context);
  }
}

/** Throws if a page contains something other than records. */
function requireRecord(item: unknown, index: number, { items, address }: Page): SourceRecord {
  if (isObject(item)) return item;
  const count = items.length;
  throw new Error(
    `${address} has ${quote(item)} as record ${index + 1} of ${count}, not an object. ` +
      RESUME_HINT,
  );
}

/** A list that ends before its total may lack records: the exit code shows it. */
export function noteShortage(
  resource: string,
  { short, address }: Page,
  { report }: Pick<Context, 'report'>,
): void {
  if (short === undefined) return;
  const done = `not moved: the list has ended after ${short} records; run the command again`;
  report({ resource, old_id: '?', field: '', done: `${done} (${address})` });
}

interface Origin {
  resource: string;
  /** Position of the record, for the report. */
  origin: string;
  /** Ids of the page so far. */
  ids: Set<number>;
}

/** The record in a movable form, or an empty list. */
function checkRecord(
  record: SourceRecord,
  { resource, origin, ids }: Origin,
  context: Pick<Context, 'report'>,
): MovableRecord[] {
  const id = readId(record.id);
  if (id === undefined) {
    const fault = `${quote(record.id)} is not an id from 1 to ${MAX_ID}`;
    createNote(context, resource, undefined)('id', `not moved: ${fault} (${origin})`);
    return [];
  }
  const note: Note = (field, done) =>
    createNote(context, resource, id)(field, `${done} (${origin})`);
  if (ids.has(id)) {
    note('id', 'not moved: another record of the page has its id');
    return [];
  }
  ids.add(id);
  return [{ ...repairRecord(dropFields(record, resource, note), note), id }];
}

/** No record of this API has as many fields; so many lines would hide the others of the report. */
const MAX_FIELDS = 1_000;

function dropFields(record: SourceRecord, resource: string, note: Note): SourceRecord {
  const entries = Object.entries(record);
  if (entries.length <= MAX_FIELDS) return record;
  const columns = recordColumns(resource);
  note('', `left out: all but the columns of this API, since it has ${entries.length} fields`);
  return Object.fromEntries(entries.filter(([field]) => columns.has(field)));
}

function repairRecord(record: SourceRecord, note: Note): SourceRecord {
  const faults = new Faults();
  const entries = Object.entries(storableFields(record, faults) as SourceRecord);
  for (const field of Object.keys(faults.fields))
    note(field, 'changed: characters that cannot be stored were replaced');
  return Object.fromEntries(entries.filter(([field, value]) => isReadable(field, value, note)));
}

/** False for a value that is too deep or too long to be handled. */
function isReadable(field: string, value: unknown, note: Note): boolean {
  try {
    requireWellFormed(value, field);
    return true;
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    note(field, `left out: ${Object.values(error.faults)[0]![0]!.message}`);
    return false;
  }
}
