import type { Schemas } from '../../platform/contract/contract';
import {
  findRecord,
  resolveReferences,
  lockRecord,
  type Reference,
  toKey,
} from '../../data/records';
import type { Deps } from '../deps';
import { notFound, HttpProblem } from '../../platform/errors';
import { keepingUpload, type Call, type Handlers } from '../../api/handlers';
import type { Storage } from '../../platform/storage/storage';
import { keyedList } from '../../api/records/list';
import { noun } from '../../api/records/noun';
import { omitSerializer } from '../../api/records/write-directly';
import { loadWriteReply } from '../../api/records/record';
import { Download } from '../../api/reply/reply';
import { addSuppressionFile, toFileColumns } from './add-file';
import { changeSuppressionFile } from './change-file';
import { importPercent } from './import-percent';
import { safeCell } from '../../data/projection/projection-sql';
import type { Db } from '../../data/db';
import { changedAt } from '../../data/timestamps';
import { enqueueNextFile } from './file-queue';

// CSV files whose numbers are put on a suppression list, or taken off it. The files of a list are
// imported in the order they came (src/domain/suppression/file-queue.ts). A file is always locked
// before its list.

const suppressionFile = noun({
  schema: 'BuyerSuppressionFile',
  singular: 'buyer_suppression_file',
  plural: 'buyer_suppression_files',
  verbs: ['list', 'new', 'show', 'create'],
  search: ['name', 'external_record_id'],
  computed: {
    import_file_url: `CASE
      WHEN t.import_file_key IS NOT NULL
        THEN '/api/v1/buyer_suppression_files/' || t.id || '/import_file'
    END`,
    caller_id_column_name: 'coalesce(t.found_column_name, t.caller_id_column_name)',
    import_percent: importPercent('t'),
    headers: `coalesce(nullif(t.found_headers, '{}'), t.headers)`,
  },
  filters: { status: 't.status = {status}' },
});
export const { projection } = suppressionFile;

const NO_PROGRESS = {
  status: 'pending',
  import_count: 0,
  rejected_count: 0,
  added_count: 0,
  removed_count: 0,
  headers: [],
  found_headers: [],
};

export const buyerSuppressionFiles = (deps: Deps) => {
  const { clock, storage } = deps;
  const handlers = suppressionFile.handlers(deps, {
    keepsUpload: true,
    unsaved: ({ db, query }) => buildUnsavedFile({ db, query }),
    insert: ({ tx, fields, upload, caller }) =>
      addSuppressionFile(tx, { fields, upload, caller }, deps),
  });
  const { change } = suppressionFile.writer(deps);
  return {
    ...handlers,

    updateBuyerSuppressionFile: keepingUpload<'updateBuyerSuppressionFile'>((call) => {
      const fields = omitSerializer(call.body);
      return change(call, {
        work: async ({ tx, id }) => {
          await changeSuppressionFile(tx, id, { fields, upload: call.upload }, deps);
        },
      });
    }),

    stopBuyerSuppressionFile: async ({ params, query, db }) => {
      const id = await db.transaction((tx) => stopSuppressionFile(tx, params.id, deps));
      return loadWriteReply({ db, now: clock(), projection, serializer: query.serializer }, id);
    },

    listRejectedRows,

    downloadImportFile: (call) => downloadFile(call, storage),
  } satisfies Partial<Handlers>;
};

type UnsavedCall = Pick<Call<'newBuyerSuppressionFile'>, 'query' | 'db'>;

async function buildUnsavedFile({ query, db }: UnsavedCall) {
  const { serializer, import_file, ...fields } = query;
  void [serializer, import_file];
  const references = fields.buyer_suppression_id ? [fields.buyer_suppression_id] : [];
  const field = 'buyer_suppression_id';
  const [list] = await resolveReferences(db, 'buyer_suppressions', references, { field });
  return {
    ...NO_PROGRESS,
    ...suppressionFile.defaults,
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
      where: toKey(db, id),
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
    where: toKey(tx, id),
    data: { status: 'stopped', stopped_at: now, ...changedAt(now) },
  });
  if (buyer_suppression_id !== null) await enqueueNextFile(tx, queue, buyer_suppression_id);
  return id;
}
