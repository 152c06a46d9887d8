import { raiseSequence } from '../../data/kept-identity';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { loadNumberReader } from '../../data/phone/caller-number';
import { MOVE_CALLS, MOVE_CONVERSIONS } from './queries/calls';
import {
  MOVE_CONTACTS,
  RESTRICT_NUMBERS,
  MOVE_RESTRICTIONS_OF_OFFERS,
  MOVE_RESTRICTIONS_OF_SCHEDULES,
} from './queries/contacts';
import { MOVE_LEADS } from './queries/leads';
import { createNote, sourceKey, type Context, type Count } from './context';
import { callRow, contactRow, leadRow, readRestrictions, type Row } from './history-rows';
import { readUuid, type RowContext } from './fields';
import { Refused } from './answer';
import { readId } from './ids';
import type { PageOptions } from './reader';
import { recordColumns } from './record-columns';
import { readRecords, type MovableRecord, type RecordPage } from './records';

// Moves contacts, leads and calls as rows, because no operation creates past events. Each page is
// one transaction with the position after it, so an interrupted run continues there. Locks: the
// sequence, contacts in the order of their numbers, then leads or calls.

export const HISTORY = ['contacts', 'leads', 'calls'] as const;
export type HistoryResource = (typeof HISTORY)[number];

/** A record of a page, and the row built from it. */
interface RecordRow {
  record: MovableRecord;
  row: Row;
}

interface Kind {
  /** The serializer with all columns, if there is one. */
  serializer?: string;
  toRow: typeof leadRow;
  /** Called before rows are built: finds which of the records that they name exist here. */
  prepare?: (records: readonly MovableRecord[], context: Context) => Promise<void>;
  /** Inserts the rows, and returns the ids of new ones. */
  write: (tx: Db, recordRows: readonly RecordRow[], context: Context) => Promise<string[]>;
  /** Stores the part of a record that must not be lost even if the record cannot be written. */
  rescue?: (tx: Db, recordRow: RecordRow, now: Date) => Promise<unknown>;
  find: (db: Db, ids: bigint[]) => Promise<{ id: bigint; uuid: string }[]>;
  /** Why a record was not inserted although its id is free. */
  obstacle: string;
}

const toIdentities = (ids: bigint[]) => ({
  where: { id: { in: ids } },
  select: { id: true, uuid: true },
});

const KINDS: Record<HistoryResource, Kind> = {
  contacts: {
    toRow: contactRow,
    write: writeContacts,
    rescue: (tx, recordRow, now) => restrict(tx, [recordRow], now),
    find: ({ prisma }, ids) => prisma.contact.findMany(toIdentities(ids)),
    obstacle: '',
  },
  leads: {
    serializer: 'lead_grid',
    toRow: leadRow,
    write: writeLeads,
    find: ({ prisma }, ids) => prisma.lead.findMany(toIdentities(ids)),
    obstacle: 'a live lead of its number, or another record with its uuid, is here',
  },
  calls: {
    toRow: callRow,
    prepare: findLeads,
    write: writeCalls,
    find: ({ prisma }, ids) => prisma.call.findMany(toIdentities(ids)),
    obstacle: 'another call has its uuid or its id at the carrier',
  },
};

/** True if an earlier run has moved part of the history, and was interrupted. */
export async function isInterrupted(
  db: Db,
  origin: Pick<Context, 'source' | 'since'>,
): Promise<boolean> {
  return (await db.prisma.migrationPosition.count({ where: { source: sourceKey(origin) } })) > 0;
}

/** Moves the records of a resource. Throws NotOffered if the other service has no such list. */
export async function moveHistory(resource: HistoryResource, context: Context): Promise<Count> {
  const { db, deps, dry_run, since } = context;
  const key = { source: sourceKey(context), resource };
  const saved = dry_run ? null : await db.prisma.migrationPosition.findFirst({ where: key });
  const rows: RowContext = {
    read: await loadNumberReader(db),
    existingIds: context.existingIds,
    now: deps.clock(),
  };
  const count: Count = { read: 0, moved: 0, here: 0, refused: 0 };
  const { serializer } = KINDS[resource];
  const limits = { since: resource === 'contacts' ? undefined : since };
  const requests: PageOptions[] = [
    // The other service may no longer know the position of an interrupted run, or the serializer.
    ...(saved ? [{ ...limits, serializer, from: saved.cursor }] : []),
    ...(serializer === undefined ? [] : [{ ...limits, serializer }]),
  ];
  for (const request of [...requests, limits]) {
    try {
      for await (const page of readRecords(resource, context, request))
        await movePage(resource, page, { ...context, rows, count });
      break;
    } catch (error) {
      if (!(error instanceof Refused) || request === limits || count.read > 0) throw error;
    }
  }
  return count;
}

interface PageContext extends Context {
  rows: RowContext;
  count: Count;
}

async function movePage(
  resource: HistoryResource,
  { items, refused, next }: RecordPage,
  context: PageContext,
): Promise<void> {
  const { count, dry_run } = context;
  const kind = KINDS[resource];
  await kind.prepare?.(items, context);
  const recordRows = items.flatMap((record): RecordRow[] => {
    const note = createNote(context, resource, record.id);
    noteUnknown(resource, record, context);
    const row = kind.toRow(record, context.rows, note);
    return row ? [{ record, row }] : [];
  });
  count.read += items.length + refused;
  count.refused += items.length - recordRows.length + refused;
  if (dry_run) {
    count.moved += recordRows.length;
    return;
  }
  const position = { company_id: context.db.company_id, source: sourceKey(context), resource };
  const cursor = next ?? LAST_PAGE;
  const save = ({ prisma }: Db) =>
    prisma.migrationPosition.upsert({
      where: { company_id_source_resource: position },
      create: { ...position, cursor },
      update: { cursor },
    });
  const writtenIds = await writePage(resource, recordRows, context, save);
  const unwrittenRows = recordRows.filter(({ row }) => !writtenIds.has(row.id));
  count.moved += writtenIds.size;
  await noteUnwritten(resource, unwrittenRows, context);
}

/** There is no page after the last: a run that continues reads only this one again. */
const LAST_PAGE = 'cursor=0';

function noteUnknown(resource: string, record: MovableRecord, context: Context): void {
  const note = createNote(context, resource, record.id);
  const columns = recordColumns(resource);
  for (const [field, value] of Object.entries(record))
    if (value !== null && !columns.has(field)) note(field, 'left out: there is no such field here');
}

const findLastId = (part: readonly RecordRow[]): bigint =>
  BigInt(Math.max(...part.map(({ row }) => row.id)));

/** Returns the ids of new records. If one cannot be written, each is tried separately. */
async function writePage(
  resource: HistoryResource,
  recordRows: readonly RecordRow[],
  context: PageContext,
  save: (tx: Db) => Promise<unknown>,
): Promise<Set<number>> {
  const { db, deps, count } = context;
  const write = (part: readonly RecordRow[], after?: typeof save) =>
    db.transaction(async (tx) => {
      if (part.length > 0)
        await raiseSequence(tx, { table: resource, id: findLastId(part), reach: null });
      const ids = part.length > 0 ? await KINDS[resource].write(tx, part, context) : [];
      await after?.(tx);
      return ids.map(Number);
    });
  try {
    return new Set(await write(recordRows, save));
  } catch (error) {
    if (!isValueError(error)) throw error;
  }
  const writtenIds = new Set<number>();
  for (const recordRow of recordRows) {
    try {
      for (const id of await write([recordRow])) writtenIds.add(id);
    } catch (error) {
      if (!isValueError(error)) throw error;
      createNote(context, resource, recordRow.row.id)('', `not moved: ${buildReason(error)}`);
      await db.transaction(async (tx) => KINDS[resource].rescue?.(tx, recordRow, deps.clock()));
      count.refused++;
      recordRow.row.id = NaN;
    }
  }
  await db.transaction(save);
  return writtenIds;
}

/** True if the database refuses a value: a class of errors that a retry does not change. */
const isValueError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && /^(21|22|23|54)\w{3}$/.test((error as { code?: string }).code ?? '');

const buildReason = ({ code, message }: Error & { code: string }): string =>
  code === '23505'
    ? 'another record has its id or its uuid'
    : `a value of it cannot be stored (${message})`;

/**
 * Counts or reports records that were not inserted: they exist here already, or something else is
 * in their way.
 */
async function noteUnwritten(
  resource: HistoryResource,
  unwrittenRows: readonly RecordRow[],
  context: PageContext,
): Promise<void> {
  const { db, count } = context;
  const candidates = unwrittenRows.filter(({ row }) => !Number.isNaN(row.id));
  if (candidates.length === 0) return;
  const kind = KINDS[resource];
  const existingRecords = await kind.find(
    db,
    candidates.map(({ row }) => BigInt(row.id)),
  );
  const uuids = new Map(existingRecords.map(({ id, uuid }) => [Number(id), uuid]));
  for (const { record, row } of candidates) {
    const uuid = uuids.get(row.id);
    const theirUuid = readUuid(record.uuid) ?? uuid;
    const isSame = uuid !== undefined && theirUuid === uuid;
    if (isSame || (resource === 'contacts' && uuid === undefined)) count.here++;
    else {
      const why = uuid === undefined ? kind.obstacle : 'another record is in the way';
      createNote(context, resource, row.id)('id', `not moved: ${why}`);
      count.refused++;
    }
  }
}

const json = (rows: readonly object[]): string => JSON.stringify(rows);

async function writeContacts(
  tx: Db,
  recordRows: readonly RecordRow[],
  { existingIds }: Context,
): Promise<string[]> {
  const moved = await tx.sql(MOVE_CONTACTS, { rows: json(recordRows.map(({ row }) => row)) });
  for (const [owner, statement] of [
    ['offer', MOVE_RESTRICTIONS_OF_OFFERS],
    ['schedule', MOVE_RESTRICTIONS_OF_SCHEDULES],
  ] as const) {
    const restrictions = recordRows.flatMap(({ record, row }) =>
      readRestrictions(record, row.caller_number as number, owner, existingIds),
    );
    if (restrictions.length > 0) await tx.sql(statement, { rows: json(restrictions) });
  }
  return moved.filter(({ is_new }) => is_new).map(({ id }) => id);
}

async function writeLeads(
  tx: Db,
  recordRows: readonly RecordRow[],
  context: Context,
): Promise<string[]> {
  // Services with a list of contacts have already reported there who must not be contacted.
  const restricted = context.existingIds.has('contacts') ? [] : restrictedNumbers(recordRows);
  const now = context.deps.clock();
  if (restricted.length > 0) await tx.sql(RESTRICT_NUMBERS, { rows: json(restricted), now });
  const rows = json(recordRows.map(({ row }) => row));
  const moved = await tx.sql(MOVE_LEADS, { rows, now });
  return moved.map(({ id }) => id!);
}

/** Blocks or opts out the numbers of records that cannot be written. */
async function restrict(tx: Db, recordRows: readonly RecordRow[], now: Date): Promise<void> {
  const restricted = restrictedNumbers(recordRows);
  if (restricted.length > 0) await tx.sql(RESTRICT_NUMBERS, { rows: json(restricted), now });
}

/** The numbers that are blocked or have opted out, each once. */
function restrictedNumbers(recordRows: readonly RecordRow[]): object[] {
  const numbers = new Map<unknown, { blocked: boolean; opt_out: boolean }>();
  for (const { row } of recordRows) {
    if (!row.blocked && !row.opt_out) continue;
    const { blocked, opt_out } = numbers.get(row.caller_number) ?? {};
    numbers.set(row.caller_number, {
      blocked: Boolean(blocked || row.blocked),
      opt_out: Boolean(opt_out || row.opt_out),
    });
  }
  return [...numbers].map(([callerNumber, flags]) => ({
    uuid: uuidv7(),
    caller_number: callerNumber,
    ...flags,
  }));
}

async function findLeads(
  records: readonly MovableRecord[],
  { db, existingIds, dry_run }: Context,
): Promise<void> {
  const ids = records.flatMap(({ lead_id }) => readId(lead_id) ?? []).map(BigInt);
  const existingLeads = dry_run
    ? ids.map((id) => ({ id }))
    : await db.prisma.lead.findMany(toIdentities(ids));
  existingIds.set('leads', new Set(existingLeads.map(({ id }) => Number(id))));
}

async function writeCalls(tx: Db, recordRows: readonly RecordRow[]): Promise<string[]> {
  const moved = await tx.sql(MOVE_CALLS, { rows: json(recordRows.map(({ row }) => row)) });
  const ids = moved.map(({ id }) => id!);
  if (ids.length > 0)
    await tx.sql(MOVE_CONVERSIONS, { rows: json(ids.map((id) => ({ id, uuid: uuidv7() }))) });
  return ids;
}
