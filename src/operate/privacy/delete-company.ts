import type { Sql } from '../../data/sql';
import { DELETE_COMPANY, DELETE_COMPANY_ROWS, LOCK_COMPANY } from './queries/delete-company';

/** Deletes a company with all its rows, within a transaction. */
export async function deleteCompany(sql: Sql, companyId: bigint): Promise<void> {
  const params = { company_id: companyId };
  for (const statement of [LOCK_COMPANY, DELETE_COMPANY_ROWS, DELETE_COMPANY] as const)
    await sql(statement as typeof DELETE_COMPANY, params);
}
