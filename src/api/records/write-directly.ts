import type { Projection } from '../../data/projection/projection';
import { selectedFields, selectionKey } from '../../data/projection/projection-sql';
import { identify, type Reference } from '../../data/references';
import { uuidv7 } from '../../data/uuid';
import { writeTemplate, type WriteShape } from '../../data/projection/write';
import { touchedFields, UNCHANGED, type RecordWrite } from '../../data/projection/write-log';
import { listComparedColumns } from './changed-columns';
import { withDefaults } from '../request/defaults';
import { readTable } from '../../data/schema';
import { changedAt, createdAt } from '../../data/timestamps';
import type { AuditEntry } from './change-log';
import type { SingleWrite, StatementRequest } from './single-write';
import type { AnySteps, RecordCall, Reply, Target, WriteCall } from './steps';
import { readSqlState } from '../reply/database-errors';
import { isExternal, isGrid, recordReply, type RecordOptions, type RecordReply } from './record';

// Writes of one record in one statement (src/data/projection/write.ts). Other requests are left to
// the handler in its transaction: records and rights of limited callers, values that are refused,
// rows that others are writing.

export function omitSerializer<Body extends object>(body: Body): Omit<Body, 'serializer'> {
  const { serializer, ...fields } = body as Body & { serializer?: string };
  void serializer;
  return fields;
}

export const pickColumns = ({ columns }: Target, fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => columns.has(name)));

interface AtOnce {
  call: WriteCall & Partial<RecordCall>;
  entry: AuditEntry | undefined;
  reply: Reply;
}

/** Undefined where the noun, or what the request sends, needs more than one statement. */
export async function writeAtOnce(
  target: Target,
  steps: AnySteps,
  { call: { caller, body, params, if_match }, entry, reply }: AtOnce,
): Promise<RecordReply<Projection> | undefined> {
  const { db, now } = reply;
  const reference = params?.id;
  const isNew = reference === undefined;
  const requested = omitSerializer(body);
  const defaults = isNew ? target.defaults : {};
  const fields = withDefaults<object>({ ...defaults, ...requested }, target.defaults);
  const columns = pickColumns(target, fields);
  const request = { db, caller, now, isNew, requested, fields, columns };
  const write = steps.statement
    ? await steps.statement(request)
    : buildPlainWrite(target, steps, request);
  if (!write) return undefined;
  const row = { ...write.row, ...(isNew ? createdAt : changedAt)(now) };
  return writeInOneStatement(reply, { ...write, row }, { reference, if_match, entry });
}

/** The row of a noun that has no steps, if all fields are columns that the driver takes as they are. */
function buildPlainWrite(
  { projection }: Target,
  { lock, columns: buildColumns, insert, save, fill, keepsUpload }: AnySteps,
  { requested, columns }: StatementRequest,
): SingleWrite | undefined {
  if (lock ?? buildColumns ?? insert ?? save ?? fill ?? keepsUpload) return undefined;
  const areColumns = Object.keys(requested).every((name) => name in columns);
  const hasJson = readTable(projection.plural).columns.some(
    ({ name, type }) => type === 'Json' && name in columns,
  );
  return areColumns && !hasJson ? { row: columns } : undefined;
}

interface Request {
  reference?: Reference;
  if_match?: string | undefined;
  entry: AuditEntry | undefined;
}

/** Returns undefined, without any change, where the write needs more than one statement. */
async function writeInOneStatement<P extends Projection>(
  options: RecordOptions<P>,
  { row, computed, parts = [] }: SingleWrite,
  { reference, if_match, entry }: Request,
): Promise<RecordReply<P> | undefined> {
  const { db, now, projection, serializer } = options;
  const identifier = reference === undefined ? undefined : identify(reference);
  const isNew = reference === undefined;
  if (db.accessScope || isExternal(serializer)) return undefined;
  // The log of a new record has the columns of its reply.
  if (isNew ? isGrid(serializer) : !identifier) return undefined;
  const selection = { grid: isGrid(serializer) };
  const ownRow = isNew ? { uuid: uuidv7(now.getTime()), ...row } : row;
  const write: RecordWrite = {
    columns: listAssignedColumns(ownRow, computed),
    ...(computed && { computed }),
    parts: parts.map(({ row: ofPart, ...part }) => ({
      ...part,
      columns: listAssignedColumns(ofPart, part.computed),
    })),
  };
  const log = entry && buildLog(projection, write, selection);
  if (log === null) return undefined;
  const guarded = if_match !== undefined && if_match !== '*';
  const shape: WriteShape = {
    ...write,
    selection,
    guarded,
    ...(identifier && { key: identifier.key }),
    ...(log && { compared: log.compared }),
  };
  const values = {
    company_id: db.company_id,
    now: now.toISOString(),
    ...prefixNames('row', ownRow),
    ...Object.assign({}, ...parts.map((part) => prefixNames(part.alias, part.row))),
    ...(identifier && { [identifier.key]: identifier.value }),
    if_match,
    ...(log && entry.valuesFor(log.type, log.shown)),
  };
  const record = await run(() => db.query(writeTemplate(projection, shape)(values)));
  return record === undefined
    ? undefined
    : recordReply(projection, record, isNew ? { status: 201 } : {});
}

/** The columns whose values are taken from a row. */
const listAssignedColumns = (row: object, computed: object = {}): string[] =>
  Object.entries(row).flatMap(([name, value]) =>
    value === undefined || name in computed ? [] : name,
  );

const prefixNames = (prefix: string, row: object) =>
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
function buildLog(
  projection: Projection,
  write: RecordWrite,
  selection: { grid: boolean },
): Log | null {
  const parts = (write.parts ?? []).map(({ table, columns }) => [table, ...columns].join());
  const ownColumns = [...write.columns, ...Object.keys(write.computed ?? {})].join();
  const key = [selectionKey(projection, selection), ownColumns, ...parts].join('|');
  let log = logs.get(key);
  if (log === undefined) {
    const { type, columns, hidden } = listComparedColumns(projection);
    const touched = touchedFields(projection, write, columns);
    // Columns that a new record does not set have no value, and are not in the log.
    const isHidden = touched.some(({ name }) => hidden.has(name));
    const shown = new Set(selectedFields(projection, selection).map(({ name }) => name));
    log = isHidden ? null : { type, compared: columns, shown };
    if (logs.size >= MAX_LOGS) logs.clear();
    logs.set(key, log);
  }
  return log;
}

/** SQLSTATEs of a violated unique or foreign key, and of an update that changes nothing. */
const REFUSED_STATES = new Set(['23505', '23503', UNCHANGED]);

/** Undefined where the statement refuses the write: the transaction then finds the reason. */
async function run(query: () => Promise<{ record: string }[]>): Promise<string | undefined> {
  try {
    const [row] = await query();
    return row?.record;
  } catch (error) {
    if (REFUSED_STATES.has(readSqlState(error) ?? '')) return undefined;
    throw error;
  }
}
