import type { Sql } from '../../data/sql';
import { DELETE_COMPANY, DELETE_COMPANY_ROWS, LOCK_COMPANY } from './queries/delete-company';

/** Deletes a company with all its rows, within a transaction. */
export async function deleteCompany(sql: Sql, companyId: bigint): Promise<void> {
  const params = { company_id: companyId };
  await sql(LOCK_COMPANY, params);
  await sql(DELETE_COMPANY_ROWS, params);
  await sql(DELETE_COMPANY, params);
}
