import { replaceAttached } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import type { Projection } from '../../data/projection/projection';
import {
  lockRecord,
  resolveReferences,
  type Reference,
  type Table,
  toKey,
} from '../../data/records';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { contract, facets, type Schema } from '../../platform/contract/contract';
import type { Caller } from '../auth/caller';
import { withDefaults } from '../request/defaults';
import type { AuditEntry } from './change-log';
import {
  loadUnsavedReply,
  loadWriteReply,
  requireUnchanged,
  requireVisible,
  show,
  type RecordReply,
} from './record';
import type {
  AnySteps,
  AnyWork,
  Locking,
  Model,
  Part,
  ReadCall,
  RecordCall,
  Reply,
  Saved,
  Steps,
  Stored,
  Target,
  WriteCall,
} from './steps';
import { omitSerializer, pickColumns, writeAtOnce } from './write-directly';

// Writes of the records of a noun: create, change and delete, each in one transaction, with
// checksums (If-Match, ETag), counts and the change log; in one statement where that is the whole
// work. What is peculiar to a noun is passed as steps.

interface Writer {
  target: Target;
  steps: AnySteps;
}

export function createWriter<
  Name extends string,
  M extends Model,
  Locked,
  Reads extends keyof Stored<M> & string,
  P extends Projection,
>(target: Target<P>, clock: () => Date, nounSteps: Steps<Name, M, Locked, Reads>) {
  const steps = nounSteps as unknown as AnySteps;
  const writer = { target, steps };
  const options = (call: ReadCall): Reply<P> => ({
    db: call.db,
    now: clock(),
    projection: target.projection,
    serializer: readSerializer(call),
  });
  return {
    show: (call: ReadCall & { params: { id: Reference }; if_none_match: string | undefined }) => {
      const columns = 'columns' in call.query ? call.query.columns : undefined;
      const { if_none_match } = call;
      return show({ ...options(call), columns, if_none_match }, call.params.id);
    },

    /** The record that a create would make, not stored. */
    new: async (call: ReadCall) => {
      const { unsaved = target.defaults } = steps;
      const row = typeof unsaved === 'function' ? await unsaved(call as never) : unsaved;
      return loadUnsavedReply(options(call), row as Record<string, unknown>);
    },

    create: async (call: WriteCall) => {
      const reply = options(call);
      const written = await call.db.transaction((tx) => insert(writer, { ...reply, db: tx }, call));
      return loadWriteReply(reply, written.id, { status: 201, extra: written.extra });
    },

    update: async (call: WriteCall & RecordCall) => {
      const reply = options(call);
      const written = await call.db.transaction((tx) => update(writer, { ...reply, db: tx }, call));
      return loadWriteReply(reply, written.id, { extra: written.extra });
    },

    /** Like `create` or `update`, in one statement; undefined where the write needs more. */
    writeAtOnce: (call: WriteCall & Partial<RecordCall>, entry: AuditEntry | undefined) =>
      writeAtOnce(target, steps, { call, entry, reply: options(call) }),

    change: <Extra, Locked = undefined>(call: RecordCall, work: ChangeSteps<Extra, Locked>) =>
      change(options(call), call, work),

    delete: async (call: RecordCall & { caller: Caller }) => {
      const reply = options(call);
      const id = await call.db.transaction((tx) => remove(writer, { ...reply, db: tx }, call));
      return loadWriteReply(reply, id);
    },
  };
}

interface ChangeSteps<Extra, Locked> {
  /** Locks records that are locked before the record. */
  lock?: (tx: Db) => Promise<Locked>;
  /** Returns fields of the reply in addition to the record, if any. */
  work: (change: { tx: Db; id: bigint; now: Date; locked: Locked }) => Promise<Extra>;
  status?: number;
}

/**
 * Changes a record by `work` alone, as an operation without fields of its own does: locked, compared
 * with If-Match, and logged.
 */
async function change<P extends Projection, Extra, Locked>(
  reply: Reply<P>,
  call: RecordCall,
  { lock, work, status }: ChangeSteps<Extra, Locked>,
): Promise<RecordReply<P, Extra extends object ? Extra : unknown>> {
  const { db, now, projection } = reply;
  const written = await db.transaction(async (tx) => {
    const locked = (await lock?.(tx)) as Locked;
    const id = await lockUnchanged({ ...reply, db: tx }, call);
    const extra = await work({ tx, id, now, locked });
    await requireVisible(tx, projection, id);
    return { id, extra };
  });
  const extra = (written.extra ?? {}) as Extra extends object ? Extra : object;
  return loadWriteReply(reply, written.id, { extra, ...(status && { status }) });
}

/** That of the body comes before that of the query. */
const readSerializer = ({ body, query }: ReadCall): string | undefined =>
  body?.serializer ?? ('serializer' in query ? query.serializer : undefined);

const toDelegateName = (model: string): string => model[0]!.toLowerCase() + model.slice(1);

interface Delegate {
  create(args: object): Promise<{ id: bigint }>;
  update(args: object): Promise<object>;
  updateMany(args: object): Promise<object>;
  deleteMany(args: object): Promise<object>;
  findUniqueOrThrow(args: object): Promise<object>;
}
const pickDelegate = ({ prisma }: Db, model: string): Delegate =>
  (prisma as unknown as Record<string, Delegate>)[toDelegateName(model)]!;

/** Locks the records that are locked before the record: those of the noun's steps come first. */
async function lockNamed(writer: Writer, request: Locking<string>) {
  const locked = await writer.steps.lock?.(request);
  const parts = await resolveParts(writer, request, 'before');
  const references: Record<string, bigint | null> = {};
  for (const field of writer.target.references) {
    const reference = (request.fields as Record<string, Reference | null | undefined>)[field];
    if (reference === null) references[field] = null;
    else if (reference !== undefined)
      [references[field]] = (await resolveReferences(
        request.tx,
        findNamedTable(writer.target, field),
        [reference],
        { field },
      )) as [bigint];
  }
  return { locked, parts, references };
}

/** The table of the records that a field names, from the contract. */
function findNamedTable({ projection: { schema } }: Target, field: string): Table {
  const { schemas } = contract.document.components;
  const property = facets(schemas[`${schema}Fields`]!).properties[field] as Schema;
  return contract.resolve(property)['x-reference'] as Table;
}

/** The ids of the records of parts that the fields replace, by field. */
async function resolveParts(
  { target }: Writer,
  { tx, fields }: Locking<string>,
  time: Part['locked'],
): Promise<Map<string, bigint[]>> {
  const ids = new Map<string, bigint[]>();
  for (const [field, { locked }] of Object.entries(target.parts)) {
    const references = (fields as Record<string, Reference[] | null | undefined>)[field];
    if (locked === time && references !== undefined)
      ids.set(
        field,
        await resolveReferences(tx, findNamedTable(target, field), references ?? [], { field }),
      );
  }
  return ids;
}

/** Replaces the parts that the fields name, and does the noun's own work on other tables. */
async function saveParts(writer: Writer, work: Saved<AnyWork>): Promise<void> {
  const { parts, projection } = writer.target;
  const owner = { [`${projection.singular}_id`]: work.id };
  const ids = new Map([...work.parts, ...(await resolveParts(writer, work, 'after'))]);
  for (const [field, { pairs, column }] of Object.entries(parts)) {
    const others = ids.get(field);
    if (others) await replaceAttached(work.tx, pairs, owner, { [column]: others });
  }
  await writer.steps.save?.(work);
}

interface Written {
  id: bigint;
  extra: object;
}

async function insert(
  writer: Writer,
  { db: tx, now }: Reply,
  { caller, upload, body }: WriteCall,
): Promise<Written> {
  const { target, steps } = writer;
  const request = { tx, caller, upload, now, isNew: true, reference: undefined, extra: {} };
  const requested = omitSerializer(body);
  const filled = await steps.fill?.({ ...request, fields: requested });
  const fields = withDefaults({ ...target.defaults, ...filled, ...requested }, target.defaults);
  const locks = await lockNamed(writer, { ...request, fields });
  const work: AnyWork = { ...request, fields, ...locks, before: undefined, id: undefined };
  const row = steps.insert ? {} : await buildRow(writer, work);
  const id = steps.insert ? await steps.insert(work) : await insertRow(target, work, row);
  await saveParts(writer, { ...work, id, row });
  await moveCount(tx, target.projection.plural, 1);
  return { id, extra: work.extra };
}

async function buildRow(writer: Writer, work: AnyWork): Promise<Record<string, unknown>> {
  const row = {
    ...pickColumns(writer.target, work.fields),
    ...work.references,
    ...(await writer.steps.columns?.(work)),
  };
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}

async function insertRow({ model }: Target, { tx, now }: AnyWork, row: object): Promise<bigint> {
  const data = { ...row, company_id: tx.company_id, ...createdAt(now) };
  return (await pickDelegate(tx, model).create({ data, select: { id: true } })).id;
}

async function update(
  writer: Writer,
  reply: Reply,
  call: WriteCall & RecordCall,
): Promise<Written> {
  const { target, steps } = writer;
  const { db: tx, now } = reply;
  const { caller, upload, body, params } = call;
  const fields = withDefaults(omitSerializer(body), target.defaults);
  const { id: reference } = params;
  const request = { tx, caller, upload, now, fields, isNew: false, reference, extra: {} };
  const locks = await lockNamed(writer, request);
  const id = await lockUnchanged(reply, call);
  const work: AnyWork = {
    ...request,
    ...locks,
    id,
    before: await loadBefore(target, steps, { tx, id }),
  };
  const row = await buildRow(writer, work);
  await updateRow(target, tx, id, { ...row, ...changedAt(now) });
  await saveParts(writer, { ...work, id, row });
  await requireVisible(tx, target.projection, id);
  return { id, extra: work.extra };
}

const updateRow = (target: Target, tx: Db, id: bigint, data: object): Promise<unknown> =>
  pickDelegate(tx, target.model).update({ where: toKey(tx, id), data, select: { id: true } });

/** Locks the record of a request. Throws 412 if the caller knew another state of it. */
async function lockUnchanged(reply: Reply, { params, if_match }: RecordCall): Promise<bigint> {
  const { id } = await lockRecord(reply.db, reply.projection.plural, params.id);
  await requireUnchanged({ ...reply, if_match }, params.id);
  return id;
}

function loadBefore(
  target: Target,
  { reads = [] }: AnySteps,
  { tx, id }: { tx: Db; id: bigint },
): Promise<object> | object {
  if (reads.length === 0) return {};
  const select = Object.fromEntries(reads.map((name) => [name, true]));
  return pickDelegate(tx, target.model).findUniqueOrThrow({ where: toKey(tx, id), select });
}

async function remove(
  { target, steps }: Writer,
  reply: Reply,
  call: RecordCall & { caller: Caller },
): Promise<bigint> {
  const { deletion = {} } = steps;
  const { db: tx, now } = reply;
  const request = { tx, caller: call.caller, now, upload: undefined };
  await deletion.lock?.({ ...request, reference: call.params.id });
  const id = await lockUnchanged(reply, call);
  const work = { ...request, id, before: await loadBefore(target, steps, { tx, id }) };
  await detach(target, work);
  await deletion.detach?.(work);
  await (deletion.remove ? deletion.remove(work) : updateRow(target, tx, id, deletedAt(now)));
  await deletion.finish?.(work);
  await moveCount(tx, target.projection.plural, -1);
  return id;
}

async function detach(
  { projection, detach: { deleted = [], cleared = [] } }: Target,
  { tx, id, now }: { tx: Db; id: bigint; now: Date },
): Promise<void> {
  const column = `${projection.singular}_id`;
  for (const model of deleted)
    await pickDelegate(tx, model).deleteMany({ where: { [column]: id } });
  for (const model of cleared)
    await pickDelegate(tx, model).updateMany({
      where: { [column]: id },
      data: { [column]: null, updated_at: now },
    });
}
