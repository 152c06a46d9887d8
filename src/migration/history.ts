import { raiseSequence } from '../db/kept-identity';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { numberReaderOf } from '../phone/caller-number';
import { MOVE_CALLS, MOVE_CONVERSIONS, FIND_LEADS } from './queries/calls';
import {
  MOVE_CONTACTS,
  RESTRICT_NUMBERS,
  MOVE_RESTRICTIONS_OF_OFFERS,
  MOVE_RESTRICTIONS_OF_SCHEDULES,
} from './queries/contacts';
import { FIND_CALLS_HERE, FIND_CONTACTS_HERE, FIND_LEADS_HERE } from './queries/here';
import { MOVE_LEADS } from './queries/leads';
import { HAS_POSITION, READ_POSITION, SAVE_POSITION } from './queries/positions';
import { noteOn, sourceKey, type Context, type Count } from './context';
import { callRow, contactRow, leadRow, restrictionsOf, type Row } from './history-rows';
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
interface Made {
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
  write: (tx: Db, made: readonly Made[], context: Context) => Promise<string[]>;
  /** Stores the part of a record that must not be lost even if the record cannot be written. */
  rescue?: (tx: Db, made: Made, now: Date) => Promise<unknown>;
  find: typeof FIND_LEADS_HERE | typeof FIND_CALLS_HERE | typeof FIND_CONTACTS_HERE;
  /** Why a record was not inserted although its id is free. */
  in_the_way: string;
}

const KINDS: Record<HistoryResource, Kind> = {
  contacts: {
    toRow: contactRow,
    write: writeContacts,
    rescue: (tx, made, now) => restrict(tx, [made], now),
    find: FIND_CONTACTS_HERE,
    in_the_way: '',
  },
  leads: {
    serializer: 'lead_grid',
    toRow: leadRow,
    write: writeLeads,
    find: FIND_LEADS_HERE,
    in_the_way: 'a live lead of its number, or another record with its uuid, is here',
  },
  calls: {
    toRow: callRow,
    prepare: findLeads,
    write: writeCalls,
    find: FIND_CALLS_HERE,
    in_the_way: 'another call has its uuid or its id at the carrier',
  },
};

/** True if an earlier run has moved part of the history, and was interrupted. */
export async function isInterrupted(
  db: Db,
  asked: Pick<Context, 'source' | 'since'>,
): Promise<boolean> {
  const [row] = await db.sql(HAS_POSITION, { source: sourceKey(asked) });
  return row!.has_position;
}

/** Moves the records of a resource. Throws NotOffered if the other service has no such list. */
export async function moveHistory(resource: HistoryResource, context: Context): Promise<Count> {
  const { db, deps, dry_run, since } = context;
  const key = { source: sourceKey(context), resource };
  const [saved] = dry_run ? [] : await db.sql(READ_POSITION, key);
  const rows: RowContext = {
    read: await numberReaderOf(db),
    known: context.known,
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
  const made = items.flatMap((record): Made[] => {
    const note = noteOn(context, resource, record.id);
    noteUnknown(resource, record, context);
    const row = kind.toRow(record, context.rows, note);
    return row ? [{ record, row }] : [];
  });
  count.read += items.length + refused;
  count.refused += items.length - made.length + refused;
  if (dry_run) {
    count.moved += made.length;
    return;
  }
  const position = { source: sourceKey(context), resource, cursor: next ?? LAST_PAGE };
  const save = (tx: Pick<Db, 'sql'>) => tx.sql(SAVE_POSITION, position);
  const written = await writePage(resource, made, context, save);
  const others = made.filter(({ row }) => !written.has(row.id));
  count.moved += written.size;
  await noteOthers(resource, others, context);
}

/** There is no page after the last: a run that continues reads only this one again. */
const LAST_PAGE = 'cursor=0';

function noteUnknown(resource: string, record: MovableRecord, context: Context): void {
  const note = noteOn(context, resource, record.id);
  const columns = recordColumns(resource);
  for (const [field, value] of Object.entries(record))
    if (value !== null && !columns.has(field)) note(field, 'left out: there is no such field here');
}

const lastIdOf = (part: readonly Made[]): bigint =>
  BigInt(Math.max(...part.map(({ row }) => row.id)));

/** Returns the ids of new records. If one cannot be written, each is tried separately. */
async function writePage(
  resource: HistoryResource,
  made: readonly Made[],
  context: PageContext,
  save: (tx: Db) => Promise<unknown>,
): Promise<Set<number>> {
  const { db, deps, count } = context;
  const write = (part: readonly Made[], after?: typeof save) =>
    db.transaction(async (tx) => {
      if (part.length > 0)
        await raiseSequence(tx, { table: resource, id: lastIdOf(part), reach: null });
      const ids = part.length > 0 ? await KINDS[resource].write(tx, part, context) : [];
      await after?.(tx);
      return ids.map(Number);
    });
  try {
    return new Set(await write(made, save));
  } catch (error) {
    if (!isAboutValues(error)) throw error;
  }
  const written = new Set<number>();
  for (const each of made) {
    try {
      for (const id of await write([each])) written.add(id);
    } catch (error) {
      if (!isAboutValues(error)) throw error;
      noteOn(context, resource, each.row.id)('', `not moved: ${reasonOf(error)}`);
      await db.transaction(async (tx) => KINDS[resource].rescue?.(tx, each, deps.clock()));
      count.refused++;
      each.row.id = NaN;
    }
  }
  await db.transaction(save);
  return written;
}

/** True if the database refuses a value: a class of errors that a retry does not change. */
const isAboutValues = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && /^(21|22|23|54)\w{3}$/.test((error as { code?: string }).code ?? '');

const reasonOf = ({ code, message }: Error & { code: string }): string =>
  code === '23505'
    ? 'another record has its id or its uuid'
    : `a value of it cannot be stored (${message})`;

/**
 * Counts or reports records that were not inserted: they exist here already, or something else is
 * in their way.
 */
async function noteOthers(
  resource: HistoryResource,
  others: readonly Made[],
  context: PageContext,
): Promise<void> {
  const { db, count } = context;
  const asked = others.filter(({ row }) => !Number.isNaN(row.id));
  if (asked.length === 0) return;
  const kind = KINDS[resource];
  const found = await db.sql(kind.find, { ids: asked.map(({ row }) => String(row.id)) });
  const uuids = new Map(found.map(({ id, uuid }) => [Number(id), uuid]));
  for (const { record, row } of asked) {
    const uuid = uuids.get(row.id);
    const their_uuid = readUuid(record.uuid) ?? uuid;
    const is_same = uuid !== undefined && their_uuid === uuid;
    if (is_same || (resource === 'contacts' && uuid === undefined)) count.here++;
    else {
      const why = uuid === undefined ? kind.in_the_way : 'another record is in the way';
      noteOn(context, resource, row.id)('id', `not moved: ${why}`);
      count.refused++;
    }
  }
}

const json = (rows: readonly object[]): string => JSON.stringify(rows);

async function writeContacts(tx: Db, made: readonly Made[], { known }: Context): Promise<string[]> {
  const moved = await tx.sql(MOVE_CONTACTS, { rows: json(made.map(({ row }) => row)) });
  for (const [owner, statement] of [
    ['offer', MOVE_RESTRICTIONS_OF_OFFERS],
    ['schedule', MOVE_RESTRICTIONS_OF_SCHEDULES],
  ] as const) {
    const restrictions = made.flatMap(({ record, row }) =>
      restrictionsOf(record, row.caller_number as number, owner, known),
    );
    if (restrictions.length > 0) await tx.sql(statement, { rows: json(restrictions) });
  }
  return moved.filter(({ is_new }) => is_new).map(({ id }) => id);
}

async function writeLeads(tx: Db, made: readonly Made[], context: Context): Promise<string[]> {
  // Services with a list of contacts have already reported there who must not be contacted.
  const restricted = context.known.has('contacts') ? [] : restrictedNumbers(made);
  const now = context.deps.clock();
  if (restricted.length > 0) await tx.sql(RESTRICT_NUMBERS, { rows: json(restricted), now });
  const rows = json(made.map(({ row }) => row));
  const moved = await tx.sql(MOVE_LEADS, { rows, now });
  return moved.map(({ id }) => id!);
}

/** Blocks or opts out the numbers of records that cannot be written. */
async function restrict(tx: Db, made: readonly Made[], now: Date): Promise<void> {
  const restricted = restrictedNumbers(made);
  if (restricted.length > 0) await tx.sql(RESTRICT_NUMBERS, { rows: json(restricted), now });
}

/** The numbers that are blocked or have opted out, each once. */
function restrictedNumbers(made: readonly Made[]): object[] {
  const numbers = new Map<unknown, { blocked: boolean; opt_out: boolean }>();
  for (const { row } of made) {
    if (!row.blocked && !row.opt_out) continue;
    const { blocked, opt_out } = numbers.get(row.caller_number) ?? {};
    numbers.set(row.caller_number, {
      blocked: Boolean(blocked || row.blocked),
      opt_out: Boolean(opt_out || row.opt_out),
    });
  }
  return [...numbers].map(([caller_number, flags]) => ({
    uuid: uuidv7(),
    caller_number,
    ...flags,
  }));
}

async function findLeads(
  records: readonly MovableRecord[],
  { db, known, dry_run }: Context,
): Promise<void> {
  const ids = records.flatMap(({ lead_id }) => readId(lead_id) ?? []).map(String);
  const found = dry_run ? ids.map((id) => ({ id })) : await db.sql(FIND_LEADS, { ids });
  known.set('leads', new Set(found.map(({ id }) => Number(id))));
}

async function writeCalls(tx: Db, made: readonly Made[]): Promise<string[]> {
  const moved = await tx.sql(MOVE_CALLS, { rows: json(made.map(({ row }) => row)) });
  const ids = moved.map(({ id }) => id!);
  if (ids.length > 0)
    await tx.sql(MOVE_CONVERSIONS, { rows: json(ids.map((id) => ({ id, uuid: uuidv7() }))) });
  return ids;
}
