import { sql, statement } from '../../../data/sql';

/**
 * The keys of uploaded files to which records refer: those of one company, and those among some;
 * null for all. Not a procedure: a restore reads it before there are any.
 */
export const STORED_FILE_KEYS = statement(
  'installation.stored_file_keys',
  sql`
    SELECT f.import_file_key AS file_key
    FROM buyer_suppression_files f
    WHERE f.import_file_key IS NOT NULL
      AND ({company_id}::bigint IS NULL OR f.company_id = {company_id}::bigint)
      AND ({among}::text[] IS NULL OR f.import_file_key = ANY ({among}::text[]))
    UNION ALL
    SELECT r.file_key
    FROM call_recordings r
    WHERE ({company_id}::bigint IS NULL OR r.company_id = {company_id}::bigint)
      AND ({among}::text[] IS NULL OR r.file_key = ANY ({among}::text[]))
    ORDER BY file_key
  `,
  { prepared: false },
).returning<{ file_key: string }>();
