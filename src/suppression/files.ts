import { defaultsOf, type Schemas } from '../contract';
import { commonColumns, safeCell, type Projection } from '../db/projection';
import { findRecord, byReference, resolveReferences } from '../db/records';
import { importPercent } from './queries/numbers';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { keyedList } from '../http/keyed-list';
import { page } from '../http/list';
import { requireUnchanged, show, unsaved, written } from '../http/record';
import { Download } from '../http/reply';
import { notFound } from '../errors';
import { addSuppressionFile, columnsOf } from './add-file';
import { changeSuppressionFile } from './change-file';
import { stopSuppressionFile } from './stop-file';

const DEFAULTS = defaultsOf('BuyerSuppressionFileFields');

export const projection = {
  schema: 'BuyerSuppressionFile',
  singular: 'buyer_suppression_file',
  plural: 'buyer_suppression_files',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('buyer_suppression_files'),
    type: `'BuyerSuppressionFile'`,
    name: true,
    buyer_suppression_id: true,
    apply_block_or_unblock: true,
    import_file_url: `CASE WHEN t.import_file_key IS NOT NULL THEN '/api/v1/buyer_suppression_files/' || t.id || '/import_file' END`,
    user_id: true,
    status: true,
    caller_id_column_name: 'coalesce(t.found_column_name, t.caller_id_column_name)',
    error_message: true,
    import_count: true,
    total_count: true,
    import_percent: importPercent('t'),
    rejected_count: true,
    added_count: true,
    removed_count: true,
    started_at: true,
    stopped_at: true,
    failed_at: true,
    succeeded_at: true,
    headers: `coalesce(nullif(t.found_headers, '{}'), t.headers)`,
  },
} as const satisfies Projection<
  'BuyerSuppressionFile',
  'buyer_suppression_file',
  'buyer_suppression_files'
>;

const NOTHING_DONE = {
  status: 'pending',
  import_count: 0,
  rejected_count: 0,
  added_count: 0,
  removed_count: 0,
  headers: [],
  found_headers: [],
};

/** CSV files that put numbers on suppression lists or take them off. */
export const buyerSuppressionFiles = (deps: Deps) => {
  const { clock, storage } = deps;
  return {
    listBuyerSuppressionFiles: ({ query, db }) => {
      return page(query, {
        db,
        now: clock(),
        projection,
        orders: {},
        filters: {
          status: 't.status = {status}',
          ...byReference(query, { buyer_suppression_id: 'buyer_suppressions' }),
        },
      });
    },

    newBuyerSuppressionFile: async ({ query, db }) => {
      const { serializer, import_file, ...fields } = query;
      void import_file;
      const { buyer_suppression_id } = fields;
      const named = buyer_suppression_id ? [buyer_suppression_id] : [];
      const [list] = await resolveReferences(db, 'buyer_suppressions', named, {
        field: 'buyer_suppression_id',
      });
      return unsaved(
        { db, now: clock(), projection, serializer },
        {
          ...NOTHING_DONE,
          ...DEFAULTS,
          ...columnsOf(fields),
          buyer_suppression_id: list ? Number(list) : null,
        },
      );
    },

    showBuyerSuppressionFile: ({ params, query, db, if_none_match }) =>
      show(
        { db, now: clock(), projection, serializer: query.serializer, if_none_match },
        params.id,
      ),

    createBuyerSuppressionFile: async ({
      query,
      body: { serializer = query.serializer, ...fields },
      db,
      caller,
      upload,
    }) => {
      const id = await db.transaction((tx) =>
        addSuppressionFile(tx, { fields, upload, caller }, deps),
      );
      return written({ db, now: clock(), projection, serializer }, id, { status: 201 });
    },

    updateBuyerSuppressionFile: async ({
      params,
      query,
      body: { serializer = query.serializer, ...fields },
      db,
      upload,
      if_match,
    }) => {
      const now = clock();
      const id = await db.transaction((tx) => {
        const check = () =>
          requireUnchanged({ db: tx, now, projection, serializer, if_match }, params.id);
        return changeSuppressionFile(tx, params.id, { fields, upload, check }, deps);
      });
      return written({ db, now, projection, serializer }, id);
    },

    stopBuyerSuppressionFile: async ({ params, query, db }) => {
      const id = await db.transaction((tx) => stopSuppressionFile(tx, params.id, deps));
      return written({ db, now: clock(), projection, serializer: query.serializer }, id);
    },

    listRejectedRows: async ({ params, query, db }) => {
      const file = await findRecord(db, 'buyer_suppression_files', params.id);
      return keyedList<Schemas['RejectedRowList']>(query, {
        db,
        root: 'rejected_rows',
        table: 'rejected_rows',
        key: 'line',
        conditions: ['t.buyer_suppression_file_id = {file}'],
        values: { file },
        item: `json_build_object('line', t.line, 'caller_id', t.caller_id, 'reason', t.reason)`,
        cells: { line: 't.line', caller_id: safeCell('t.caller_id'), reason: 't.reason' },
      });
    },

    downloadImportFile: async ({ params, db }) => {
      const id = await findRecord(db, 'buyer_suppression_files', params.id);
      const { import_file_key, import_file_name } =
        await db.prisma.buyerSuppressionFile.findUniqueOrThrow({
          where: { company_id_id: { company_id: db.company_id, id } },
          select: { import_file_key: true, import_file_name: true },
        });
      const file = import_file_key === null ? undefined : await storage.open(import_file_key);
      if (!file) throw notFound();
      return new Download(file.stream, import_file_name ?? 'import.csv', file.bytes);
    },
  } satisfies Partial<Handlers>;
};
