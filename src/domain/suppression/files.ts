import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import {
  buildReferenceConditions,
  findRecord,
  resolveReferences,
  lockRecord,
  type Reference,
} from '../../data/records';
import type { Deps } from '../deps';
import { notFound, HttpProblem } from '../../platform/errors';
import { keepingUpload, type Call, type Handlers } from '../../api/handlers';
import type { Storage } from '../../platform/storage/storage';
import { keyedList, page } from '../../api/records/list';
import { loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { Download } from '../../api/reply/reply';
import { addSuppressionFile, toFileColumns, type FileFields } from './add-file';
import { changeSuppressionFile } from './change-file';
import { importPercent } from './import-percent';
import { safeCell } from '../../data/projection/projection-sql';
import type { Db } from '../../data/db';
import { changedAt } from '../../data/timestamps';
import { enqueueNextFile } from './file-queue';

// CSV files whose numbers are put on a suppression list, or taken off it. The files of a list are
// imported in the order they came (src/domain/suppression/file-queue.ts). A file is always locked
// before its list.

const DEFAULTS = readDefaults('BuyerSuppressionFileFields');

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
    import_file_url: `CASE
      WHEN t.import_file_key IS NOT NULL
        THEN '/api/v1/buyer_suppression_files/' || t.id || '/import_file'
    END`,
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

const NO_PROGRESS = {
  status: 'pending',
  import_count: 0,
  rejected_count: 0,
  added_count: 0,
  removed_count: 0,
  headers: [],
  found_headers: [],
};

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text', nullable: true },
  status: { sql: 't.status', type: 'text' },
  ...BY_TIMES,
};

export const buyerSuppressionFiles = (deps: Deps) => {
  const { clock, storage } = deps;
  const records = recordHandlers(projection, clock);
  return {
    listBuyerSuppressionFiles: ({ query, db }) => {
      return page(query, {
        db,
        now: clock(),
        projection,
        orders,
        filters: {
          status: 't.status = {status}',
          ...buildReferenceConditions(query, { buyer_suppression_id: 'buyer_suppressions' }),
        },
      });
    },

    newBuyerSuppressionFile: async (call) =>
      records.showUnsaved(call, await buildUnsavedFile(call)),

    showBuyerSuppressionFile: records.show,

    createBuyerSuppressionFile: keepingUpload((call) =>
      records.create(call, (tx, fields: FileFields) =>
        addSuppressionFile(tx, { fields, upload: call.upload, caller: call.caller }, deps),
      ),
    ),

    updateBuyerSuppressionFile: keepingUpload((call) =>
      records.update(call, (tx, id, { fields }: { fields: FileFields }) =>
        changeSuppressionFile(tx, id, { fields, upload: call.upload }, deps),
      ),
    ),

    stopBuyerSuppressionFile: async ({ params, query, db }) => {
      const id = await db.transaction((tx) => stopSuppressionFile(tx, params.id, deps));
      return loadWriteReply({ db, now: clock(), projection, serializer: query.serializer }, id);
    },

    listRejectedRows,

    downloadImportFile: (call) => downloadFile(call, storage),
  } satisfies Partial<Handlers>;
};

async function buildUnsavedFile({ query, db }: Call<'newBuyerSuppressionFile'>) {
  const { serializer, import_file, ...fields } = query;
  void [serializer, import_file];
  const references = fields.buyer_suppression_id ? [fields.buyer_suppression_id] : [];
  const field = 'buyer_suppression_id';
  const [list] = await resolveReferences(db, 'buyer_suppressions', references, { field });
  return {
    ...NO_PROGRESS,
    ...DEFAULTS,
    ...toFileColumns(fields),
    buyer_suppression_id: list ? Number(list) : null,
  };
}

async function listRejectedRows({ params, query, db }: Call<'listRejectedRows'>) {
  const file = await findRecord(db, 'buyer_suppression_files', params.id);
  return keyedList<Schemas['RejectedRowPage']>(query, {
    db,
    root: 'rejected_rows',
    table: 'rejected_rows',
    key: 'line',
    conditions: ['t.buyer_suppression_file_id = {file}'],
    values: { file },
    item: `json_build_object('line', t.line, 'caller_id', t.caller_id, 'reason', t.reason)`,
    cells: { line: 't.line', caller_id: safeCell('t.caller_id'), reason: 't.reason' },
  });
}

async function downloadFile(
  { params, db }: Call<'downloadImportFile'>,
  storage: Storage,
): Promise<Download> {
  const id = await findRecord(db, 'buyer_suppression_files', params.id);
  const { import_file_key, import_file_name } =
    await db.prisma.buyerSuppressionFile.findUniqueOrThrow({
      where: { company_id_id: { company_id: db.company_id, id } },
      select: { import_file_key: true, import_file_name: true },
    });
  const file = import_file_key === null ? undefined : await storage.open(import_file_key);
  if (!file) throw notFound();
  return new Download(file.stream, import_file_name ?? 'import.csv', file.bytes);
}

/**
 * Stops an import at its present row, and starts the next file of the list. A run in progress
 * notices that it has ended at its next write. Throws 404, and 422 for a file that has been
 * imported.
 */
async function stopSuppressionFile(
  tx: Db,
  reference: Reference,
  { queue, clock }: Pick<Deps, 'queue' | 'clock'>,
): Promise<bigint> {
  const now = clock();
  const { id, status } = await lockRecord(tx, 'buyer_suppression_files', reference, ['status']);
  if (status === 'stopped') return id;
  if (status !== 'pending' && status !== 'running')
    throw HttpProblem.field(
      'status',
      'wrong_state',
      `is ${status} already: there is nothing to stop`,
    );
  const { buyer_suppression_id } = await tx.prisma.buyerSuppressionFile.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { status: 'stopped', stopped_at: now, ...changedAt(now) },
  });
  if (buyer_suppression_id !== null) await enqueueNextFile(tx, queue, buyer_suppression_id);
  return id;
}
