import type { Db } from '../db/tenant';
import type { Queue } from '../jobs/queue';

/**
 * Puts a file at the end of its list's queue, to be applied from its first row: a new one, or one that is to run again. A file that has no
 * content or no list yet only waits. The file is new or locked, and its list is locked FOR UPDATE or will be here: file before list, always.
 */
export async function queueFile(db: Db, queue: Queue, id: bigint, now: Date): Promise<void> {
  await db.query({
    text: 'DELETE FROM rejected_rows WHERE company_id = $1 AND buyer_suppression_file_id = $2',
    values: [db.company_id, id],
  });
  const [file] = await db.query<{ list: bigint | string | null; ready: boolean }>({
    text: `UPDATE buyer_suppression_files SET status = 'pending', total_count = NULL, import_count = 0, rejected_count = 0, added_count = 0, removed_count = 0, attempts = 0,
        found_column_name = NULL, found_headers = '{}', error_message = NULL, job_id = NULL, run_id = NULL,
        started_at = NULL, stopped_at = NULL, failed_at = NULL, succeeded_at = NULL, updated_at = $3,
        queue_position = CASE WHEN import_file_key IS NOT NULL AND buyer_suppression_id IS NOT NULL THEN nextval('suppression_file_positions') END
      WHERE company_id = $1 AND id = $2 RETURNING buyer_suppression_id AS list, queue_position IS NOT NULL AS ready`,
    values: [db.company_id, id, now],
  });
  if (file!.ready) await wakeList(db, queue, BigInt(file!.list!));
}

/**
 * Adds a job for the file whose turn it is on a list, if it is waiting. Whoever adds a file to a list's queue or takes one out calls this, in the same
 * transaction; the lock on the list lets one of them at a time look, so that no file is overlooked.
 */
export async function wakeList(db: Db, queue: Queue, list: bigint): Promise<void> {
  const head = await headOfList(db, list);
  if (head?.status === 'pending')
    await queue.add(db, 'import_suppression_file', {
      company_id: String(db.company_id),
      id: String(head.id),
    });
}

/** The file whose turn it is on a list, under a lock on the list. */
export async function headOfList(
  db: Db,
  list: bigint,
): Promise<{ id: bigint; status: string } | undefined> {
  await db.query({
    text: 'SELECT FROM buyer_suppressions WHERE company_id = $1 AND id = $2 FOR UPDATE',
    values: [db.company_id, list],
  });
  const [head] = await db.query<{ id: bigint | string; status: string }>({
    text: `SELECT id, status FROM buyer_suppression_files WHERE company_id = $1 AND buyer_suppression_id = $2 AND status IN ('pending', 'running')
        AND queue_position IS NOT NULL AND deleted_at IS NULL ORDER BY queue_position LIMIT 1`,
    values: [db.company_id, list],
  });
  return head && { id: BigInt(head.id), status: head.status };
}
