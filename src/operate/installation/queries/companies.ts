import { sql, statement } from '../../../data/sql';

export const NEXT_COMPANY_ID = statement(
  'installation.next_company_id',
  sql`SELECT nextval('companies_id_seq') AS id`,
  { prepared: false },
);

/** Numbers of a company that a carrier bills, as E.164. */
export const BILLED_NUMBERS = statement(
  'installation.billed_numbers',
  sql`
    SELECT '+' || phone_number AS number FROM numbers
    WHERE company_id = {company_id} AND deleted_at IS NULL
      AND carrier <> 'sandbox' AND carrier_number_id IS NOT NULL
    ORDER BY id
  `,
  { prepared: false },
);

export const UPLOADED_FILES = statement(
  'installation.uploaded_files',
  sql`
    SELECT import_file_key AS key FROM buyer_suppression_files
    WHERE company_id = {company_id} AND import_file_key IS NOT NULL
  `,
  { prepared: false },
);

/** Refuses further requests: credentials are looked up again within seconds. */
export const CLOSE_COMPANY = statement(
  'installation.close_company',
  sql`UPDATE companies SET removed_at = now() WHERE id = {company_id} AND removed_at IS NULL`,
  { prepared: false },
);

export const REOPEN_COMPANY = statement(
  'installation.reopen_company',
  sql`UPDATE companies SET removed_at = NULL WHERE id = {company_id}`,
  { prepared: false },
);

export const DELETE_COMPANY = statement(
  'installation.delete_company',
  sql`SELECT delete_company({company_id})::text AS deleted`,
  { prepared: false },
);
