import type { Schemas } from '../../platform/contract/contract';
import { changeBuyers } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import { findRecord, lockRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { notFound } from '../../platform/errors';
import type { Call, Handlers } from '../../api/handlers';
import { keyedList } from '../../api/records/list';
import { noun, selectIds } from '../../api/records/noun';
import { loadWriteReply } from '../../api/records/record';
import { callerNumber, callerNumbers } from '../../data/phone/caller-number';
import { addSuppressionFile } from './add-file';
import { changeSuppressionFile } from './change-file';
import { changeNumbers, type Verb } from './change-numbers';
import { importPercent } from './import-percent';
import { CURRENT_FILE, FIND_BROKEN_FILE, LOCK_FILES_OF_LIST } from './queries/files';

// Suppression lists: numbers whose calls certain buyers, offers or schedules must not get. A file
// of a list is always locked before the list, and the list before the records it is attached to:
// offers, then schedules, then buyers.

const suppressionList = noun({
  schema: 'BuyerSuppression',
  singular: 'buyer_suppression',
  plural: 'buyer_suppressions',
  joins: { f: `LEFT JOIN LATERAL (${CURRENT_FILE.text}) f ON true` },
  search: ['name', 'external_record_id'],
  computed: {
    import_file_url: `'/api/v1/buyer_suppression_files/' || f.id || '/import_file'`,
    status: 'f.status',
    caller_id_column_name: `coalesce(
      t.caller_id_column_name, f.found_column_name, f.caller_id_column_name
    )`,
    headers: `CASE
      WHEN cardinality(t.headers) > 0 THEN t.headers
      ELSE coalesce(nullif(f.found_headers, '{}'), f.headers, '{}')
    END`,
    error_message: 'f.error_message',
    import_count: 'coalesce(f.import_count, 0)',
    total_count: 'f.total_count',
    import_percent: importPercent('f'),
    started_at: 'f.started_at',
    failed_at: 'f.failed_at',
    stopped_at: 'f.stopped_at',
    succeeded_at: 'f.succeeded_at',
    buyer_ids: selectIds('buyer_suppression_buyers', 'buyer_suppression_id', 'buyer_id'),
    buyer_suppression_file_id: 'f.id',
  },
  parts: {
    offer_ids: { pairs: 'buyer_suppression_offers', column: 'offer_id', locked: 'after' },
    schedule_ids: { pairs: 'buyer_suppression_schedules', column: 'schedule_id', locked: 'after' },
  },
  detach: {
    deleted: ['buyerSuppressionBuyer', 'buyerSuppressionOffer', 'buyerSuppressionSchedule'],
  },
});
export const { projection } = suppressionList;

type Fields = Schemas['BuyerSuppressionFields'];

export const buyerSuppressions = (deps: Deps) => {
  const { clock, queue } = deps;
  const handlers = suppressionList.handlers(deps, {
    unsaved: { headers: [], blocked: 0 },
    keepsUpload: true,

    // A file whose import failed or was stopped, and which the fields may correct.
    lock: ({ tx, fields, reference }) =>
      reference === undefined ? Promise.resolve(undefined) : lockBrokenFile(tx, reference, fields),

    columns: ({ fields: { headers } }) => (headers === undefined ? {} : { headers: headers ?? [] }),

    save: async ({ tx, id, fields, upload, caller, before, locked: brokenFile }) => {
      await changeBuyers(tx, 'buyer_suppression_buyers', id, fields);
      const layout = pickLayout(fields);
      if (!before && upload) {
        await addSuppressionFile(tx, { list: id, upload, caller, fields: layout }, deps);
        await moveCount(tx, 'buyer_suppression_files', 1);
      }
      if (brokenFile !== undefined)
        await changeSuppressionFile(tx, brokenFile, { fields: layout, upload: undefined }, deps);
    },

    deletion: {
      lock: ({ tx, reference }) => lockFilesOfList(tx, reference),
      // The files no longer suppress calls as soon as the transaction commits; a job erases them.
      detach: async ({ tx, id, now }) => {
        const files = { buyer_suppression_id: id, deleted_at: null };
        await tx.prisma.buyerSuppressionFile.updateMany({
          where: { ...files, status: { in: ['pending', 'running'] } },
          data: { status: 'stopped', stopped_at: now },
        });
        const { count } = await tx.prisma.buyerSuppressionFile.updateMany({
          where: files,
          data: { deleted_at: now, updated_at: now },
        });
        if (count > 0) await moveCount(tx, 'buyer_suppression_files', -count);
        const list = { company_id: String(tx.company_id), id: String(id) };
        await queue.add(tx, 'erase_suppression_list', list);
      },
    },
  });
  return {
    ...handlers,
    blockBuyerSuppressionCallers: (call) => changeCallers(call, 'block', clock()),
    unblockBuyerSuppressionCallers: (call) => changeCallers(call, 'unblock', clock()),
    listBuyerSuppressionCallerIds,
  } satisfies Partial<Handlers>;
};

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
