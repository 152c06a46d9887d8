import { sql, statement } from '../../../data/sql';
import { COMPANY_TABLES } from '../ownership';
import { joinSql } from './rows';

/** Requests that would add rows wait for this lock, and then find no company. */
export const LOCK_COMPANY = statement(
  'privacy.lock_company',
  sql`SELECT FROM companies WHERE id = {company_id} FOR UPDATE`,
  { prepared: false },
);

/** Foreign keys are checked at the end of the statement, so the order of tables does not matter. */
export const DELETE_COMPANY_ROWS = statement(
  'privacy.delete_company_rows',
  sql`
    WITH ${joinSql(
      COMPANY_TABLES.map(
        ({ name }) => `of_${name} AS (DELETE FROM ${name} WHERE company_id = {company_id})`,
      ),
      ', ',
    )}
    SELECT`,
  { prepared: false },
);

export const DELETE_COMPANY = statement(
  'privacy.delete_company',
  sql`DELETE FROM companies WHERE id = {company_id}`,
  { prepared: false },
);
