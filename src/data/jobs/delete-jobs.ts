import type { Sql } from '../sql';
import { DELETE_JOBS } from './queries/job';

export async function deleteJobs(sql: Sql, companyId: bigint): Promise<void> {
  await sql(DELETE_JOBS, { company_id: String(companyId) });
}
