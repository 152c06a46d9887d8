import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { StorageUnavailable } from '../../platform/storage/storage';
import { importedRows, importsRunning } from '../../platform/telemetry/metrics';
import { claimFile, type Run } from './claim-file';
import { ColumnProblem, formatColumn } from './csv/layout';
import { openReader, type ImportReader } from './csv/open-reader';
import { FileProblem } from '../../platform/csv/text';
import type { Summary } from './csv/thread';
import { enqueueNextFile } from './file-queue';
import { importBatch, type ImportBatch } from './import-batch';
import { importTransaction } from './import-transaction';
import {
  FIND_RUN,
  UNDO_ATTEMPT,
  RECORD_FAILURE,
  RECORD_LAYOUT,
  RECORD_SUCCESS,
} from './queries/import-run';

/** Runs without progress before the import fails: the file itself may crash the processes. */
const MAX_ATTEMPTS = 20;
/** Rows of a transaction: many are faster, few show progress sooner and take less memory. */
const [MIN_ROWS, MAX_ROWS, STEPS] = [10_000, 100_000, 5];
/** How often a run that reads its file checks that it has not been stopped. */
const CHECK_INTERVAL_MS = 2_000;

type Work = Pick<Deps, 'tenants' | 'queue' | 'storage' | 'clock'>;

/**
 * Imports a suppression file into its list. The file is read to its end before anything is written.
 * Then each transaction writes some rows and updates their count in the row of the file, so that
 * the next run continues where the last transaction ended.
 */
export async function importSuppressionFile(
  { company_id, id }: Tasks['import_suppression_file'],
  context: JobContext,
  deps: Work,
): Promise<void> {
  const db = deps.tenants.of(BigInt(company_id));
  const run = await claimFile(db, BigInt(id), context.job_id, deps);
  if (!run) return;
  if (run.attempts > MAX_ATTEMPTS)
    return fail(db, run, deps, new Error('the process ended in the middle of it'));
  importsRunning.inc();
  const reader = openReader({
    source: run.source,
    readOptions: run.readOptions,
    owner: [company_id, id],
  });
  try {
    const isComplete = await importAll(db, run, reader, context.signal);
    if (isComplete) await succeed(db, run, deps);
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (error instanceof StorageUnavailable) await db.sql(UNDO_ATTEMPT, run);
    if (!isFinal(error, run)) throw error;
    await fail(db, run, deps, error as Error);
  } finally {
    importsRunning.dec();
    await reader.close();
  }
}

const isFinal = (error: unknown, { attempts }: Run): boolean =>
  error instanceof FileProblem ||
  (attempts >= MAX_ATTEMPTS && !(error instanceof StorageUnavailable));

/**
 * Returns false when the run has ended before the import: it was stopped, or another run has
 * started.
 */
async function importAll(
  db: Db,
  run: Run,
  reader: ImportReader,
  signal: AbortSignal,
): Promise<boolean> {
  const summary = await readFile(db, run, reader, signal);
  if (!summary) return false;
  const { layout, total, rejected, rejected_count } = summary;
  const { headers } = layout;
  const layoutColumns = { total_count: total, headers, column_name: formatColumn(layout) };
  const recorded = await db.sql(RECORD_LAYOUT, {
    id: run.id,
    run_id: run.run_id,
    ...layoutColumns,
  });
  if (recorded.length === 0) return false;
  const write = async (step: ImportBatch) => {
    const isWritten = await importTransaction(db, signal, (client, contended) =>
      importBatch(client, run, step, contended),
    );
    if (isWritten) measureRows(step);
    return isWritten;
  };
  if (run.is_first && rejected_count > 0 && !(await write({ rejected, rejected_count })))
    return false;
  const size = Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.ceil(total / STEPS)));
  for await (const batch of reader.batches({ skip: run.importedRows, size }))
    if (!(await write({ batch }))) return false;
  return true;
}

function measureRows({ batch, rejected_count = 0 }: ImportBatch): void {
  importedRows.inc({ result: 'imported' }, batch?.rowCount ?? 0);
  importedRows.inc({ result: 'rejected' }, rejected_count);
}

/**
 * Waits until the file has been read. Stops reading when the process must end, or when the run has
 * ended: then it returns undefined.
 */
async function readFile(
  db: Db,
  { id, run_id }: Run,
  reader: ImportReader,
  signal: AbortSignal,
): Promise<Summary | undefined> {
  const close = () => void reader.close();
  signal.addEventListener('abort', close, { once: true });
  let hasEnded = false;
  const check = async () => {
    if ((await db.sql(FIND_RUN, { id, run_id })).length > 0) return;
    hasEnded = true;
    close();
  };
  // A check that fails is followed by another.
  const timer = setInterval(() => void check().catch(() => undefined), CHECK_INTERVAL_MS);
  try {
    return await reader.summary();
  } catch (error) {
    if (hasEnded) return undefined;
    throw error;
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', close);
  }
}

function succeed(db: Db, { id, run_id, list }: Run, { queue, clock }: Work): Promise<void> {
  return db.transaction(async (tx) => {
    const recorded = await tx.sql(RECORD_SUCCESS, { id, run_id, now: clock() });
    if (recorded.length > 0) await enqueueNextFile(tx, queue, list);
  });
}

function fail(
  db: Db,
  { id, run_id, list, attempts }: Run,
  { queue, clock }: Work,
  error: Error,
): Promise<void> {
  const message =
    error instanceof FileProblem
      ? error.message
      : `The import broke off ${attempts} times in a row. The last time: ${error.message}`;
  const headers = error instanceof ColumnProblem ? error.headers : [];
  return db.transaction(async (tx) => {
    const failure = { message, headers, now: clock() };
    const recorded = await tx.sql(RECORD_FAILURE, { id, run_id, ...failure });
    if (recorded.length > 0) await enqueueNextFile(tx, queue, list);
  });
}
