import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import {
  copyRejectedRows,
  mergeNumbers,
  moveBlocked,
  UNIQUE_VIOLATION,
  type Verb,
} from './queries/numbers';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { ColumnProblem, type Wanted } from './csv/layout';
import { openReader, type ImportReader } from './csv/open-reader';
import type { Source } from './csv/reader';
import { FileProblem } from './csv/text';
import type { PackedBatch, Summary } from './csv/thread';
import type { JobContext } from '../jobs/queue';
import type { Tasks } from '../jobs/tasks';
import { headOfList, wakeList } from './file-queue';

/** Runs without progress after which a file is given up, rather than bring down one process after another. */
const MOST_ATTEMPTS = 20;
/** Rows of a transaction: many are faster, few show their progress sooner. */
const [FEWEST_ROWS, MOST_ROWS, STEPS] = [10_000, 250_000, 5];
/** How long one transaction may take before its connection is given up. */
const PATIENCE_MS = 120_000;

/** The file is no longer this run's to write: it was stopped, deleted, or taken over. */
class Lost extends Error {}

interface Run {
  id: bigint;
  list: bigint;
  run_id: string;
  verb: Verb;
  attempts: number;
  source: Source;
  wanted: Wanted;
  /** Rows whose number was taken in the runs before. */
  taken: number;
  /** Whether this is the first to write: it writes what was rejected, too. */
  first: boolean;
}

type Work = Pick<Deps, 'tenants' | 'queue' | 'storage' | 'clock'>;

/**
 * Applies a suppression file to its list. The file is read to its end before anything is applied; then each transaction applies some of its rows and
 * says so in the file's own row, so that a run which breaks off anywhere is continued by the next where the last transaction ended.
 */
export async function importSuppressionFile(
  { company_id, id }: Tasks['import_suppression_file'],
  context: JobContext,
  deps: Work,
): Promise<void> {
  const db = deps.tenants.of(BigInt(company_id));
  const run = await claim(db, BigInt(id), context.job_id, deps);
  if (!run) return;
  if (run.attempts > MOST_ATTEMPTS)
    return fail(db, run, deps, new Error('the process ended in the middle of it'));
  const reader = openReader({ source: run.source, wanted: run.wanted, owner: [company_id, id] });
  try {
    await apply(db, run, reader, context.signal);
    await finish(db, run, deps, undefined);
  } catch (error) {
    if (error instanceof Lost) return;
    if (context.signal.aborted) throw error;
    if (error instanceof FileProblem || run.attempts >= MOST_ATTEMPTS)
      return await fail(db, run, deps, error as Error);
    throw error;
  } finally {
    await reader.close();
  }
}

interface Claimed {
  list: bigint | string;
  status: string;
  job_id: string | null;
  verb: Verb;
  attempts: number;
  import_file_key: string;
  country: string;
  caller_id_column_name: string | null;
  usual_column_name: string | null;
  headers: string[];
  import_count: bigint | string;
  rejected_count: bigint | string;
}

/** Makes the file this run's; undefined when it is not its turn, or another job's. A run of the same job that died is succeeded. */
function claim(
  db: Db,
  id: bigint,
  job_id: string,
  { storage, clock }: Work,
): Promise<Run | undefined> {
  return db.transaction(async (tx) => {
    const [file] = await tx.query<Claimed>({
      text: `SELECT f.buyer_suppression_id AS list, f.status, f.job_id::text, f.apply_block_or_unblock AS verb, f.attempts, f.import_file_key, c.country,
          f.caller_id_column_name, f.headers, f.import_count, f.rejected_count, l.caller_id_column_name AS usual_column_name
        FROM buyer_suppression_files f JOIN companies c ON c.id = f.company_id JOIN buyer_suppressions l ON l.company_id = f.company_id AND l.id = f.buyer_suppression_id
        WHERE f.company_id = $1 AND f.id = $2 AND f.deleted_at IS NULL AND f.queue_position IS NOT NULL AND f.status IN ('pending', 'running') FOR UPDATE OF f`,
      values: [tx.company_id, id],
    });
    if (!file) return undefined;
    const list = BigInt(file.list);
    const mine =
      file.status === 'running' ? file.job_id === job_id : (await headOfList(tx, list))?.id === id;
    if (!mine) return undefined;
    const run_id = randomUUID();
    await tx.query({
      text: `UPDATE buyer_suppression_files SET status = 'running', job_id = $3::uuid, run_id = $4::uuid, attempts = attempts + 1, started_at = coalesce(started_at, $5), updated_at = $5
        WHERE company_id = $1 AND id = $2`,
      values: [tx.company_id, id, job_id, run_id, clock()],
    });
    const { verb, country, caller_id_column_name, usual_column_name, headers } = file;
    const taken = Number(file.import_count);
    const first = taken + Number(file.rejected_count) === 0;
    const source = { file: storage.path(file.import_file_key), country, scratch: storage.incoming };
    const wanted = { caller_id_column_name, usual_column_name, headers };
    return { id, list, run_id, verb, attempts: file.attempts + 1, source, wanted, taken, first };
  });
}

async function apply(db: Db, run: Run, reader: ImportReader, signal: AbortSignal): Promise<void> {
  const { layout, total, ...rejects } = await readWhole(db, run, reader, signal);
  await write(db, run, 'total_count = $4, found_headers = $5::text[], found_column_name = $6', [
    total,
    layout.headers,
    layout.headers[layout.column] ?? '',
  ]);
  const commit = (step: Omit<Step, 'run'>) =>
    inTransaction(db, signal, (client, beside_others) =>
      applyStep(client, { ...step, run, beside_others, company_id: db.company_id }),
    );
  if (run.first && rejects.rejected_count > 0) await commit(rejects);
  const size = Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, Math.ceil(total / STEPS)));
  for await (const batch of reader.batches({ skip: run.taken, size })) await commit({ batch });
}

/** How often it is asked whether a file that is being read is still wanted. */
const LOOK_MS = 2_000;

/** Waits until the file has been read, unless the process must stop or the file is taken away meanwhile: then the reading ends at once. */
async function readWhole(
  db: Db,
  run: Run,
  reader: ImportReader,
  signal: AbortSignal,
): Promise<Summary> {
  const close = () => void reader.close();
  signal.addEventListener('abort', close, { once: true });
  let lost: Lost | undefined;
  const look = setInterval(() => {
    write(db, run, 'run_id = run_id', []).catch((error: unknown) => {
      if (!(error instanceof Lost)) return;
      lost = error;
      close();
    });
  }, LOOK_MS);
  try {
    return await reader.summary();
  } catch (error) {
    throw lost ?? missing(error as Error, run.source.file);
  } finally {
    clearInterval(look);
    signal.removeEventListener('abort', close);
  }
}

function missing(error: Error, file: string): Error {
  return error.message.includes('ENOENT') && error.message.includes(file)
    ? new FileProblem(
        'The uploaded file is not in the storage of this server any more. Send it again.',
      )
    : error;
}

/** What one transaction applies: a batch of numbers, or the rows that were rejected. */
interface Step {
  run: Run;
  batch?: PackedBatch;
  rejected?: Uint8Array;
  rejected_count?: number;
}

interface Applying extends Step {
  company_id: bigint;
  /** Somebody else was found to put the same numbers on the list. */
  beside_others: boolean;
}

/** The numbers or rejected rows, the file's progress and the list's count: all of it or nothing. File before list, as everywhere. */
async function applyStep(
  client: PoolClient,
  { company_id, run, batch, rejected, rejected_count = 0, beside_others }: Applying,
): Promise<void> {
  const list = { company_id, id: run.list };
  const how = run.verb === 'block' && beside_others ? 'block_beside_others' : run.verb;
  const changed = batch ? await mergeNumbers(client, list, how, batch.numbers) : 0;
  if (rejected) await copyRejectedRows(client, rejected);
  const { rowCount } = await client.query(
    `UPDATE buyer_suppression_files SET import_count = import_count + $4, rejected_count = rejected_count + $5, attempts = 0, updated_at = now(),
        added_count = added_count + CASE WHEN apply_block_or_unblock = 'block' THEN $6::bigint ELSE 0 END,
        removed_count = removed_count + CASE WHEN apply_block_or_unblock = 'unblock' THEN $6::bigint ELSE 0 END
      WHERE company_id = $1 AND id = $2 AND run_id = $3 AND status = 'running' AND deleted_at IS NULL`,
    [company_id, run.id, run.run_id, batch?.taken ?? 0, rejected_count, changed],
  );
  if (rowCount !== 1 || !(await moveBlocked(client, list, run.verb, changed))) throw new Lost();
}

const AGAIN = new Set(['40P01', '40001', UNIQUE_VIOLATION]);

type InTransaction = (client: PoolClient, beside_others: boolean) => Promise<void>;

/** Runs the work in a transaction; again where it met another's and one of the two had to fail: that has changed nothing. */
async function inTransaction(db: Db, signal: AbortSignal, work: InTransaction): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await once(db, signal, (client) => work(client, tries > 1));
    } catch (error) {
      if (tries === 4 || !AGAIN.has((error as { code?: string }).code ?? '')) throw error;
    }
  }
}

/** A transaction on a connection for long statements, which is cut when the job must end or takes too long. */
async function once(
  db: Db,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const client = await db.bulk.connect();
  let cut = false;
  const end = () => {
    cut = true;
    client.release(true);
  };
  const over = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  if (over.aborted) client.release();
  over.throwIfAborted();
  over.addEventListener('abort', end, { once: true });
  // A connection that breaks rejects its query; it must not end the process besides.
  const heard = () => undefined;
  client.on('error', heard);
  try {
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${PATIENCE_MS}`);
    await work(client);
    await client.query('COMMIT');
    over.removeEventListener('abort', end);
    client.off('error', heard);
    client.release();
  } catch (error) {
    over.removeEventListener('abort', end);
    if (!cut) client.release(true);
    throw error;
  }
}

/** Writes to the file's row as long as it is this run's. */
async function write(db: Db, { id, run_id }: Run, set: string, values: unknown[]): Promise<void> {
  const text = `UPDATE buyer_suppression_files SET ${set} WHERE company_id = $1 AND id = $2 AND run_id = $3::uuid AND status = 'running' AND deleted_at IS NULL RETURNING id`;
  const rows = await db.query({ text, values: [db.company_id, id, run_id, ...values] });
  if (rows.length === 0) throw new Lost();
}

async function fail(db: Db, run: Run, deps: Work, error: Error): Promise<void> {
  const told =
    error instanceof FileProblem
      ? error.message
      : `The import broke off ${run.attempts} times in a row. The last time: ${error.message}`;
  const headers = error instanceof ColumnProblem ? error.headers : [];
  await finish(db, run, deps, { told, headers }).catch((lost: unknown) => {
    if (!(lost instanceof Lost)) throw lost;
  });
}

function finish(
  db: Db,
  run: Run,
  { queue, clock }: Work,
  failure: { told: string; headers: string[] } | undefined,
): Promise<void> {
  const now = clock();
  return db.transaction(async (tx) => {
    if (failure) {
      const set = `status = 'failed', failed_at = $4, updated_at = $4, error_message = $5, found_headers = CASE WHEN cardinality($6::text[]) > 0 THEN $6::text[] ELSE found_headers END`;
      await write(tx, run, set, [now, failure.told, failure.headers]);
    } else await write(tx, run, `status = 'succeeded', succeeded_at = $4, updated_at = $4`, [now]);
    await wakeList(tx, queue, run.list);
  });
}
