import type { Deps } from '../deps';
import type { JobContext } from '../jobs/queue';
import type { Tasks } from '../jobs/tasks';

const BATCH = 20_000;

/** Erases what a deleted list held: its numbers, and its files with their rejected rows. */
export async function eraseSuppressionList(
  { company_id, id }: Tasks['erase_suppression_list'],
  { signal }: JobContext,
  { tenants, storage }: Pick<Deps, 'tenants' | 'storage'>,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const values = [company_id, id];
  // From where the batch before ended: what it has deleted would else be walked over again.
  const numbers = `WITH batch AS (SELECT number FROM buyer_suppression_numbers WHERE company_id = $1 AND buyer_suppression_id = $2 AND number > $3 ORDER BY number LIMIT ${BATCH}),
    gone AS (DELETE FROM buyer_suppression_numbers WHERE company_id = $1 AND buyer_suppression_id = $2 AND number IN (SELECT number FROM batch))
    SELECT max(number)::text AS last FROM batch`;
  for (let last: string | null = '-1'; last !== null;) {
    const rows: { last: string | null }[] = await db.query({
      text: numbers,
      values: [...values, last],
    });
    last = rows[0]!.last;
    signal.throwIfAborted();
  }
  const files = `SELECT id::text, import_file_key FROM buyer_suppression_files WHERE company_id = $1 AND buyer_suppression_id = $2 AND import_file_key IS NOT NULL`;
  for (const file of await db.query<{ id: string; import_file_key: string }>({
    text: files,
    values,
  })) {
    await db.query({
      text: 'DELETE FROM rejected_rows WHERE company_id = $1 AND buyer_suppression_file_id = $2',
      values: [company_id, file.id],
    });
    await storage.remove(file.import_file_key);
    await db.query({
      text: 'UPDATE buyer_suppression_files SET import_file_key = NULL WHERE company_id = $1 AND id = $2',
      values: [company_id, file.id],
    });
  }
}
