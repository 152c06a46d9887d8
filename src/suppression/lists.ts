import type { Schemas } from '../contract';
import { changeBuyers, replaceAttached } from '../db/attachments';
import { callerNumber, callerNumbers } from '../phone/caller-number';
import { commonColumns, type Projection } from '../db/projection';
import { findRecord, lockRecord, resolveReferences, type Reference } from '../db/records';
import { changeNumbers, importPercent, type Verb } from './queries/numbers';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Call, Handlers } from '../http/handlers';
import { keyedList } from '../http/keyed-list';
import { page } from '../http/list';
import { requireUnchanged, show, unsaved, written } from '../http/record';
import { notFound } from '../errors';
import { addSuppressionFile } from './add-file';
import { changeSuppressionFile } from './change-file';
import { deleteSuppressionList } from './delete-list';
import { moveCount } from '../db/counters';

/** The file at work on the list, else the last one that was. */
const FILE_JOIN = `LEFT JOIN LATERAL (SELECT x.* FROM buyer_suppression_files x WHERE x.company_id = t.company_id AND x.buyer_suppression_id = t.id AND x.deleted_at IS NULL
  AND x.queue_position IS NOT NULL ORDER BY x.status IN ('pending', 'running') DESC, CASE WHEN x.status IN ('pending', 'running') THEN x.queue_position ELSE -x.queue_position END LIMIT 1) f ON true`;

export const projection = {
  schema: 'BuyerSuppression',
  singular: 'buyer_suppression',
  plural: 'buyer_suppressions',
  joins: { f: FILE_JOIN },
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('buyer_suppressions'),
    type: `'BuyerSuppression'`,
    name: true,
    import_file_url: `'/api/v1/buyer_suppression_files/' || f.id || '/import_file'`,
    status: 'f.status',
    caller_id_column_name: `coalesce(t.caller_id_column_name, f.found_column_name, f.caller_id_column_name)`,
    headers: `CASE WHEN cardinality(t.headers) > 0 THEN t.headers ELSE coalesce(nullif(f.found_headers, '{}'), f.headers, '{}') END`,
    blocked: true,
    error_message: 'f.error_message',
    import_count: 'coalesce(f.import_count, 0)',
    total_count: 'f.total_count',
    import_percent: importPercent('f'),
    started_at: 'f.started_at',
    failed_at: 'f.failed_at',
    stopped_at: 'f.stopped_at',
    succeeded_at: 'f.succeeded_at',
    buyer_ids: `ARRAY(SELECT a.buyer_id FROM buyer_suppression_buyers a WHERE a.company_id = t.company_id AND a.buyer_suppression_id = t.id ORDER BY 1)`,
    offer_ids: `ARRAY(SELECT a.offer_id FROM buyer_suppression_offers a WHERE a.company_id = t.company_id AND a.buyer_suppression_id = t.id ORDER BY 1)`,
    schedule_ids: `ARRAY(SELECT a.schedule_id FROM buyer_suppression_schedules a WHERE a.company_id = t.company_id AND a.buyer_suppression_id = t.id ORDER BY 1)`,
    buyer_suppression_file_id: 'f.id',
  },
} as const satisfies Projection<'BuyerSuppression', 'buyer_suppression', 'buyer_suppressions'>;

type Fields = Schemas['BuyerSuppressionFields'];

/** The columns of the list's own row among the fields. */
function columnsOf({ name, caller_id_column_name, headers, external_record_id }: Fields) {
  return {
    ...(name !== undefined && { name }),
    ...(caller_id_column_name !== undefined && { caller_id_column_name }),
    ...(headers !== undefined && { headers: headers ?? [] }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

/** Do-not-call lists. */
export const buyerSuppressions = (deps: Deps) => {
  const { clock } = deps;
  return {
    listBuyerSuppressions: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders: {} }),

    newBuyerSuppression: ({ query, db }) =>
      unsaved(
        { db, now: clock(), projection, serializer: query.serializer },
        { headers: [], blocked: 0 },
      ),

    showBuyerSuppression: ({ params, query, db, if_none_match }) =>
      show(
        { db, now: clock(), projection, serializer: query.serializer, if_none_match },
        params.id,
      ),

    createBuyerSuppression: async ({
      query,
      body: { serializer = query.serializer, ...body },
      db,
      caller,
      upload,
    }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const list = await tx.prisma.buyerSuppression.create({
          data: {
            ...columnsOf(body),
            name: body.name!,
            company_id: tx.company_id,
            user_updated_at: now,
            created_at: now,
            updated_at: now,
          },
          select: { id: true },
        });
        await attach(tx, list.id, body);
        await moveCount(tx, 'buyer_suppressions', 1);
        const { caller_id_column_name, headers } = body;
        if (upload)
          await addSuppressionFile(
            tx,
            { list: list.id, upload, caller, fields: { caller_id_column_name, headers } },
            deps,
          );
        return list.id;
      });
      return written({ db, now, projection, serializer }, id, { status: 201 });
    },

    updateBuyerSuppression: async ({
      params,
      query,
      body: { serializer = query.serializer, ...body },
      db,
      if_match,
    }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        // A file is locked before its list, always.
        const broken =
          body.caller_id_column_name === undefined && body.headers === undefined
            ? undefined
            : await brokenImport(tx, params.id);
        const { id } = await lockRecord(tx, 'buyer_suppressions', params.id);
        await requireUnchanged({ db: tx, now, projection, serializer, if_match }, params.id);
        await tx.prisma.buyerSuppression.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: { ...columnsOf(body), user_updated_at: now, updated_at: now },
          select: { id: true },
        });
        await attach(tx, id, body);
        const { caller_id_column_name, headers } = body;
        if (broken)
          await changeSuppressionFile(
            tx,
            broken,
            { fields: { caller_id_column_name, headers }, upload: undefined },
            deps,
          );
        return id;
      });
      return written({ db, now, projection, serializer }, id);
    },

    deleteBuyerSuppression: async ({ params, query: { serializer }, db, if_match }) => {
      const now = clock();
      const id = await db.transaction((tx) =>
        deleteSuppressionList(tx, params.id, {
          ...deps,
          check: () =>
            requireUnchanged({ db: tx, now, projection, serializer, if_match }, params.id),
        }),
      );
      return written({ db, now, projection, serializer }, id);
    },

    blockBuyerSuppressionCallers: (call) => changeCallers(call, 'block', clock()),
    unblockBuyerSuppressionCallers: (call) => changeCallers(call, 'unblock', clock()),

    listBuyerSuppressionCallerIds: async ({ params, query, db }) => {
      const list = await findRecord(db, 'buyer_suppressions', params.id);
      const number = await callerNumber(db, query.caller_id, 'caller_id');
      return keyedList<Schemas['CallerIdList']>(query, {
        db,
        root: 'caller_ids',
        table: 'buyer_suppression_numbers',
        key: 'number',
        conditions: [
          't.buyer_suppression_id = {list}',
          ...(number === undefined ? [] : ['t.number = {number}::bigint']),
        ],
        values: { list, number },
        ...(number === undefined && {
          total:
            'SELECT blocked FROM buyer_suppressions WHERE company_id = {company_id} AND id = {list}',
        }),
        item: `to_json('+' || t.number)`,
        cells: { caller_id: `'+' || t.number` },
      });
    },
  } satisfies Partial<Handlers>;
};

/** Attaches a locked list: to offers, then schedules, then buyers, in the order of locks. */
async function attach(db: Db, id: bigint, fields: Fields): Promise<void> {
  const list = { buyer_suppression_id: id };
  if (fields.offer_ids !== undefined) {
    const offer_id = await resolveReferences(db, 'offers', fields.offer_ids ?? [], {
      field: 'offer_ids',
    });
    await replaceAttached(db, 'buyer_suppression_offers', list, { offer_id });
  }
  if (fields.schedule_ids !== undefined) {
    const schedule_id = await resolveReferences(db, 'schedules', fields.schedule_ids ?? [], {
      field: 'schedule_ids',
    });
    await replaceAttached(db, 'buyer_suppression_schedules', list, { schedule_id });
  }
  await changeBuyers(db, 'buyer_suppression_buyers', id, fields);
}

type Numbers = Pick<Call<'blockBuyerSuppressionCallers'>, 'params' | 'query' | 'body' | 'db'>;

async function changeCallers({ params, query, body, db }: Numbers, verb: Verb, now: Date) {
  const list = await findRecord(db, 'buyer_suppressions', params.id);
  const { numbers, accepted, rejected } = await callerNumbers(db, body.caller_ids);
  const changed = await db.transaction(async (tx) => {
    const n = await changeNumbers(tx, list, verb, numbers);
    if (n === undefined) throw notFound();
    return n;
  });
  const counts = {
    accepted,
    added: verb === 'block' ? changed : 0,
    removed: verb === 'unblock' ? changed : 0,
    rejected,
  };
  return written({ db, now, projection, serializer: body.serializer ?? query.serializer }, list, {
    extra: counts,
  });
}

/** The list's last import if it has failed or was stopped, locked: what is sent with the list may mend it. */
async function brokenImport(db: Db, reference: Reference): Promise<string | undefined> {
  const list = await findRecord(db, 'buyer_suppressions', reference);
  const [file] = await db.query<{ id: string }>({
    text: `SELECT f.id::text FROM buyer_suppressions t ${FILE_JOIN} WHERE t.company_id = $1 AND t.id = $2 AND f.status IN ('failed', 'stopped')`,
    values: [db.company_id, list],
  });
  // It may have been started again before the lock was there.
  const locked = file && (await lockRecord(db, 'buyer_suppression_files', file.id, ['status']));
  return locked?.status === 'failed' || locked?.status === 'stopped' ? file?.id : undefined;
}
