import type { Sql } from '../../data/sql';
import { STORED_FILE_KEYS } from './queries/stored-files';

/** The keys of uploaded files to which records refer, in the order of their text. */
export async function listStoredFiles(
  sql: Sql,
  { company_id = null, among = null }: { company_id?: bigint | null; among?: string[] | null } = {},
): Promise<string[]> {
  const rows = await sql(STORED_FILE_KEYS, { company_id, among });
  return rows.map(({ file_key }) => file_key);
}
