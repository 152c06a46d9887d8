import type { Schemas } from '../../platform/contract/contract';
import { changeBuyers, replaceAttached } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { findRecord, lockRecord, resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { notFound } from '../../platform/errors';
import { keepingUpload, type Call, type Handlers } from '../../api/handlers';
import { keyedList, page } from '../../api/records/list';
import { loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { callerNumber, callerNumbers } from '../../data/phone/caller-number';
import { addSuppressionFile } from './add-file';
import { changeSuppressionFile } from './change-file';
import { changeNumbers, type Verb } from './change-numbers';
import { importPercent } from './import-percent';
import { CURRENT_FILE, FIND_BROKEN_FILE, LOCK_FILES_OF_LIST } from './queries/files';
import type { Queue } from '../../data/jobs/queue';

// Suppression lists: numbers whose calls certain buyers, offers or schedules must not get. A file
// of a list is always locked before the list, and the list before the records it is attached to:
// offers, then schedules, then buyers.

const selectAttachedIds = (table: string, column: string) => `ARRAY(
  SELECT a.${column}
  FROM ${table} a
  WHERE a.company_id = t.company_id AND a.buyer_suppression_id = t.id
  ORDER BY 1
)`;

export const projection = {
  schema: 'BuyerSuppression',
  singular: 'buyer_suppression',
  plural: 'buyer_suppressions',
  joins: { f: `LEFT JOIN LATERAL (${CURRENT_FILE.text}) f ON true` },
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('buyer_suppressions'),
    type: `'BuyerSuppression'`,
    name: true,
    import_file_url: `'/api/v1/buyer_suppression_files/' || f.id || '/import_file'`,
    status: 'f.status',
    caller_id_column_name: `coalesce(
      t.caller_id_column_name, f.found_column_name, f.caller_id_column_name
    )`,
    headers: `CASE
      WHEN cardinality(t.headers) > 0 THEN t.headers
      ELSE coalesce(nullif(f.found_headers, '{}'), f.headers, '{}')
    END`,
    blocked: true,
    error_message: 'f.error_message',
    import_count: 'coalesce(f.import_count, 0)',
    total_count: 'f.total_count',
    import_percent: importPercent('f'),
    started_at: 'f.started_at',
    failed_at: 'f.failed_at',
    stopped_at: 'f.stopped_at',
    succeeded_at: 'f.succeeded_at',
    buyer_ids: selectAttachedIds('buyer_suppression_buyers', 'buyer_id'),
    offer_ids: selectAttachedIds('buyer_suppression_offers', 'offer_id'),
    schedule_ids: selectAttachedIds('buyer_suppression_schedules', 'schedule_id'),
    buyer_suppression_file_id: 'f.id',
  },
} as const satisfies Projection<'BuyerSuppression', 'buyer_suppression', 'buyer_suppressions'>;

type Fields = Schemas['BuyerSuppressionFields'];

function toListColumns({ name, caller_id_column_name, headers, external_record_id }: Fields) {
  return {
    ...(name !== undefined && { name }),
    ...(caller_id_column_name !== undefined && { caller_id_column_name }),
    ...(headers !== undefined && { headers: headers ?? [] }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  ...BY_TIMES,
};

export const buyerSuppressions = (deps: Deps) => {
  const { clock, queue } = deps;
  const records = recordHandlers(projection, clock);
  return {
    listBuyerSuppressions: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),

    newBuyerSuppression: (call) => records.showUnsaved(call, { headers: [], blocked: 0 }),

    showBuyerSuppression: records.show,

    createBuyerSuppression: keepingUpload((call) =>
      records.create(call, (tx, fields: Fields, now) =>
        createList(tx, { call, fields, now }, deps),
      ),
    ),

    updateBuyerSuppression: (call) =>
      records.updateLockingFirst(
        call,
        (tx, fields: Fields) => lockBrokenFile(tx, call.params.id, fields),
        (tx, id, update) => updateList(tx, id, update, deps),
      ),

    deleteBuyerSuppression: (call) =>
      records.delete(
        call,
        (tx, id, now) => deleteSuppressionList(tx, id, { queue, now }),
        (tx) => lockFilesOfList(tx, call.params.id),
      ),

    blockBuyerSuppressionCallers: (call) => changeCallers(call, 'block', clock()),
    unblockBuyerSuppressionCallers: (call) => changeCallers(call, 'unblock', clock()),

    listBuyerSuppressionCallerIds,
  } satisfies Partial<Handlers>;
};

interface Creation {
  call: Pick<Call<'createBuyerSuppression'>, 'upload' | 'caller'>;
  fields: Fields;
  now: Date;
}

async function createList(
  tx: Db,
  { call: { upload, caller }, fields, now }: Creation,
  deps: Deps,
): Promise<bigint> {
  const { id } = await tx.prisma.buyerSuppression.create({
    data: {
      ...toListColumns(fields),
      name: fields.name!,
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await attach(tx, id, fields);
  if (upload) {
    await addSuppressionFile(tx, { list: id, upload, caller, fields: pickLayout(fields) }, deps);
    await moveCount(tx, 'buyer_suppression_files', 1);
  }
  return id;
}

interface Update {
  fields: Fields;
  now: Date;
  /** A file whose import failed or was stopped, and which these fields may correct. */
  ahead: bigint | undefined;
}

async function updateList(
  tx: Db,
  id: bigint,
  { fields, now, ahead: broken }: Update,
  deps: Deps,
): Promise<void> {
  await tx.prisma.buyerSuppression.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { ...toListColumns(fields), ...changedAt(now) },
    select: { id: true },
  });
  await attach(tx, id, fields);
  const changes = { fields: pickLayout(fields), upload: undefined };
  if (broken !== undefined) await changeSuppressionFile(tx, broken, changes, deps);
}

/** SQL of the number of callers on a list, which the list itself counts. */
const BLOCKED_COUNT = `(
  SELECT blocked FROM buyer_suppressions WHERE company_id = {company_id} AND id = {list})`;

async function listBuyerSuppressionCallerIds({
  params,
  query,
  db,
}: Call<'listBuyerSuppressionCallerIds'>) {
  const list = await findRecord(db, 'buyer_suppressions', params.id);
  const number = await callerNumber(db, query.caller_id, 'caller_id');
  const isFiltered = number !== undefined;
  const ofList = 't.buyer_suppression_id = {list}';
  return keyedList<Schemas['CallerIdPage']>(query, {
    db,
    root: 'caller_ids',
    table: 'buyer_suppression_numbers',
    key: 'number',
    conditions: isFiltered ? [ofList, 't.number = {number}::bigint'] : [ofList],
    values: { list, number },
    ...(!isFiltered && { total: BLOCKED_COUNT }),
    item: `to_json('+' || t.number)`,
    cells: { caller_id: `'+' || t.number` },
  });
}

const pickLayout = ({ caller_id_column_name, headers }: Fields) => ({
  caller_id_column_name,
  headers,
});

async function attach(db: Db, id: bigint, fields: Fields): Promise<void> {
  const list = { buyer_suppression_id: id };
  if (fields.offer_ids !== undefined) {
    const offerId = await resolveReferences(db, 'offers', fields.offer_ids ?? [], {
      field: 'offer_ids',
    });
    await replaceAttached(db, 'buyer_suppression_offers', list, { offer_id: offerId });
  }
  if (fields.schedule_ids !== undefined) {
    const scheduleId = await resolveReferences(db, 'schedules', fields.schedule_ids ?? [], {
      field: 'schedule_ids',
    });
    await replaceAttached(db, 'buyer_suppression_schedules', list, { schedule_id: scheduleId });
  }
  await changeBuyers(db, 'buyer_suppression_buyers', id, fields);
}

type CallersCall = Pick<Call<'blockBuyerSuppressionCallers'>, 'params' | 'query' | 'body' | 'db'>;

/** Puts the numbers of a request on a list, or takes them off; replies with how many there were. */
async function changeCallers({ params, query, body, db }: CallersCall, verb: Verb, now: Date) {
  const list = await findRecord(db, 'buyer_suppressions', params.id);
  const { numbers, accepted, rejected } = await callerNumbers(db, body.caller_ids);
  const changed = await db.transaction(async (tx) => {
    const count = await changeNumbers(tx, list, verb, numbers);
    if (count === undefined) throw notFound();
    return count;
  });
  const counts = {
    accepted,
    added: verb === 'block' ? changed : 0,
    removed: verb === 'unblock' ? changed : 0,
    rejected,
  };
  const serializer = body.serializer ?? query.serializer;
  return loadWriteReply({ db, now, projection, serializer }, list, { extra: counts });
}

/**
 * Locks the current file of the list if its import has failed or was stopped and the request
 * changes the layout of files: the import then starts again. Returns its id.
 */
async function lockBrokenFile(
  tx: Db,
  reference: Reference,
  fields: Fields,
): Promise<bigint | undefined> {
  if (fields.caller_id_column_name === undefined && fields.headers === undefined) return undefined;
  const list = await findRecord(tx, 'buyer_suppressions', reference);
  const [file] = await tx.sql(FIND_BROKEN_FILE, { list });
  if (!file) return undefined;
  // Another request may have restarted it before it was locked.
  const { id, status } = await lockRecord(tx, 'buyer_suppression_files', file.id, ['status']);
  return status === 'failed' || status === 'stopped' ? id : undefined;
}

/** Locks the files of a list that will be deleted: a file is always locked before its list. */
async function lockFilesOfList(tx: Db, reference: Reference): Promise<void> {
  const list = await findRecord(tx, 'buyer_suppressions', reference);
  await tx.sql(LOCK_FILES_OF_LIST, { list });
}

/**
 * Deletes a locked list and its locked files. They no longer suppress calls as soon as the
 * transaction commits; a job erases their content.
 */
async function deleteSuppressionList(
  tx: Db,
  id: bigint,
  { queue, now }: { queue: Queue; now: Date },
): Promise<void> {
  const ofList = { buyer_suppression_id: id };
  const undeleted = { ...ofList, deleted_at: null };
  await tx.prisma.buyerSuppressionFile.updateMany({
    where: { ...undeleted, status: { in: ['pending', 'running'] } },
    data: { status: 'stopped', stopped_at: now },
  });
  const files = await tx.prisma.buyerSuppressionFile.updateMany({
    where: undeleted,
    data: { deleted_at: now, updated_at: now },
  });
  await tx.prisma.buyerSuppressionBuyer.deleteMany({ where: ofList });
  await tx.prisma.buyerSuppressionOffer.deleteMany({ where: ofList });
  await tx.prisma.buyerSuppressionSchedule.deleteMany({ where: ofList });
  await tx.prisma.buyerSuppression.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
  if (files.count > 0) await moveCount(tx, 'buyer_suppression_files', -files.count);
  const { company_id } = tx;
  await queue.add(tx, 'erase_suppression_list', { company_id: String(company_id), id: String(id) });
}
