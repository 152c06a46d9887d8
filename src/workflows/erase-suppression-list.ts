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
  const numbers = `DELETE FROM buyer_suppression_numbers WHERE company_id = $1 AND buyer_suppression_id = $2 AND number IN
    (SELECT number FROM buyer_suppression_numbers WHERE company_id = $1 AND buyer_suppression_id = $2 ORDER BY number LIMIT ${BATCH}) RETURNING 1`;
  while ((await db.query({ text: numbers, values })).length > 0) signal.throwIfAborted();
  const files = `SELECT id::text, import_file_key FROM buyer_suppression_files WHERE company_id = $1 AND buyer_suppression_id = $2 AND import_file_key IS NOT NULL`;
  for (const file of await db.query<{ id: string; import_file_key: string }>({ text: files, values })) {
    await db.query({ text: 'DELETE FROM rejected_rows WHERE company_id = $1 AND buyer_suppression_file_id = $2', values: [company_id, file.id] });
    await storage.remove(file.import_file_key);
    await db.query({ text: 'UPDATE buyer_suppression_files SET import_file_key = NULL WHERE company_id = $1 AND id = $2', values: [company_id, file.id] });
  }
}
