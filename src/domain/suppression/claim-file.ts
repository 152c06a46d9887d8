import { randomUUID } from 'node:crypto';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Verb } from './change-numbers';
import type { ThreadData } from './csv/thread';
import { findFirstFile } from './file-queue';
import { LOCK_QUEUED_FILE, START_RUN } from './queries/import-run';

/** One run of the import of a file. After a crash another run claims the file. */
export interface Run {
  company_id: bigint;
  id: bigint;
  list: bigint;
  run_id: string;
  verb: Verb;
  /** Runs since the last progress, including this one. */
  attempts: number;
  source: ThreadData['source'];
  readOptions: ThreadData['readOptions'];
  /** Rows with a number that earlier runs have imported. */
  importedRows: number;
  /** Nothing has been written yet, neither numbers nor rejected rows. */
  is_first: boolean;
}

/**
 * Starts a run of a file's import. Returns undefined when another file of the list is first, or
 * another job imports this one. The job's own file is claimed again: its earlier run has died.
 */
export function claimFile(
  db: Db,
  id: bigint,
  jobId: string,
  { storage, clock }: Pick<Deps, 'storage' | 'clock'>,
): Promise<Run | undefined> {
  return db.transaction(async (tx) => {
    const [file] = await tx.sql(LOCK_QUEUED_FILE, { id });
    if (!file) return undefined;
    const list = BigInt(file.list);
    const isClaimable =
      file.status === 'running'
        ? file.job_id === jobId
        : (await findFirstFile(tx, list))?.id === id;
    if (!isClaimable) return undefined;
    const runId = randomUUID();
    await tx.sql(START_RUN, { id, job_id: jobId, run_id: runId, now: clock() });
    const { country, caller_id_column_name, usual_column_name, headers } = file;
    const importedRows = Number(file.import_count);
    return {
      company_id: tx.company_id,
      id,
      list,
      run_id: runId,
      verb: file.verb as Verb,
      attempts: file.attempts + 1,
      source: { storage: storage.settings, key: file.import_file_key },
      readOptions: {
        country,
        scratch: storage.incoming,
        columnHints: { caller_id_column_name, usual_column_name, headers },
      },
      importedRows,
      is_first: importedRows + Number(file.rejected_count) === 0,
    };
  });
}
