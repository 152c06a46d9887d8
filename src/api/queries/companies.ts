import { sql, statement } from '../../data/sql';

/** One row; none where the company was removed or is being removed. */
export const HAS_COMPANY = statement(
  'http.has_company',
  sql`SELECT 1 AS is_there FROM companies WHERE id = {company_id} AND removed_at IS NULL`,
  { prepared: false },
);
