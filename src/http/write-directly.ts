import type { OperationId } from '../contract';
import type { Projection } from '../db/projection';
import { selectedFields, selectionKey } from '../db/projection-sql';
import { identify, type Reference } from '../db/references';
import { uuidv7 } from '../db/uuid';
import { writeTemplate, type RecordWrite, type WriteShape } from '../db/write';
import { touchedFields, UNCHANGED } from '../db/write-log';
import { comparedColumns } from './changed-columns';
import type { DirectEntry } from './change-log';
import { sqlStateOf } from './database-errors';
import type { Call, Handler } from './handlers';
import { isExternal, isGrid, recordReply, type RecordOptions, type RecordReply } from './record';

// Writes of one record in one statement (src/db/write.ts). Other requests are left to the handler
// in its transaction: records and rights of limited callers, values that are refused, rows that
// others are writing.

/** The whole write of a request. */
export interface DirectWrite {
  /** Columns of the record's own row, as the driver takes them: JSON as text. */
  row: Record<string, unknown>;
  /** Columns as SQL over the old row t, with `{row_name}` for `name` of `row`. */
  computed?: Readonly<Record<string, string>>;
  parts?: readonly DirectPart[];
}

/** A row of another table; see Part in src/db/write.ts. */
interface DirectPart {
  alias: string;
  table: string;
  owner: string;
  row: Record<string, unknown>;
  computed?: Readonly<Record<string, string>>;
}

/**
 * Adds a fast path to a handler. It returns undefined, without any change, where the request needs
 * more than one statement.
 */
export const directly = <Id extends OperationId>(
  handler: (call: Call<Id>) => ReturnType<Handler<Id>>,
  direct: NonNullable<Handler<Id>['direct']>,
): Handler<Id> => Object.assign(handler, { direct });

export const fieldsIn = <Body extends { serializer?: unknown }>(
  body: Body,
): Omit<Body, 'serializer'> => {
  const { serializer, ...fields } = body;
  void serializer;
  return fields;
};

interface Request {
  reference?: Reference;
  if_match?: string | undefined;
  entry: DirectEntry | undefined;
}

/** Returns undefined, without any change, where the write needs more than one statement. */
export async function writeDirectly<P extends Projection>(
  options: RecordOptions<P>,
  { row, computed, parts = [] }: DirectWrite,
  { reference, if_match, entry }: Request,
): Promise<RecordReply<P> | undefined> {
  const { db, now, projection, serializer } = options;
  const named = reference === undefined ? undefined : identify(reference);
  const is_new = reference === undefined;
  if (db.accessScope || isExternal(serializer)) return undefined;
  // The log of a new record has the columns of its reply.
  if (is_new ? isGrid(serializer) : !named) return undefined;
  const selection = { grid: isGrid(serializer) };
  const own = is_new ? { uuid: uuidv7(now.getTime()), ...row } : row;
  const write: RecordWrite = {
    columns: assigned(own, computed),
    ...(computed && { computed }),
    parts: parts.map(({ row: of_part, ...part }) => ({
      ...part,
      columns: assigned(of_part, part.computed),
    })),
  };
  const log = entry && logOf(projection, write, selection);
  if (log === null) return undefined;
  const guarded = if_match !== undefined && if_match !== '*';
  const shape: WriteShape = {
    ...write,
    selection,
    guarded,
    ...(named && { key: named.key }),
    ...(log && { compared: log.compared }),
  };
  const values = {
    company_id: db.company_id,
    now: now.toISOString(),
    ...prefixed('row', own),
    ...Object.assign({}, ...parts.map((part) => prefixed(part.alias, part.row))),
    ...(named && { [named.key]: named.value }),
    if_match,
    ...(log && entry.valuesFor(log.type, log.shown)),
  };
  const record = await run(() => db.query(writeTemplate(projection, shape)(values)));
  return record === undefined
    ? undefined
    : recordReply(projection, record, is_new ? { status: 201 } : {});
}

/** The columns whose values are taken from a row. */
const assigned = (row: object, computed: object = {}): string[] =>
  Object.entries(row).flatMap(([name, value]) =>
    value === undefined || name in computed ? [] : name,
  );

const prefixed = (prefix: string, row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      `${prefix}_${name}`,
      value instanceof Date ? value.toISOString() : value,
    ]),
  );

interface Log {
  type: string;
  compared: readonly string[];
  /** The columns of the reply. */
  shown: ReadonlySet<string>;
}

const logs = new Map<string, Log | null>();
const MAX_LOGS = 1_000;

/** The columns that the log compares; null if a value may change that the log must mask. */
function logOf(
  projection: Projection,
  write: RecordWrite,
  selection: { grid: boolean },
): Log | null {
  const parts = (write.parts ?? []).map(({ table, columns }) => [table, ...columns].join());
  const own = [...write.columns, ...Object.keys(write.computed ?? {})].join();
  const key = [selectionKey(projection, selection), own, ...parts].join('|');
  let log = logs.get(key);
  if (log === undefined) {
    const { type, columns, hidden } = comparedColumns(projection);
    const touched = touchedFields(projection, write, columns);
    // Columns that a new record does not set have no value, and are not in the log.
    const is_hidden = touched.some(({ name }) => hidden.has(name));
    const shown = new Set(selectedFields(projection, selection).map(({ name }) => name));
    log = is_hidden ? null : { type, compared: columns, shown };
    if (logs.size >= MAX_LOGS) logs.clear();
    logs.set(key, log);
  }
  return log;
}

/** SQLSTATEs of a violated unique or foreign key, and of an update that changes nothing. */
const REFUSED = new Set(['23505', '23503', UNCHANGED]);

/** Undefined where the statement refuses the write: the transaction then finds the reason. */
async function run(query: () => Promise<{ record: string }[]>): Promise<string | undefined> {
  try {
    const [written] = await query();
    return written?.record;
  } catch (error) {
    if (REFUSED.has(sqlStateOf(error) ?? '')) return undefined;
    throw error;
  }
}
